#!/usr/bin/env python3
"""Runs one check of .ci/workloads: check_workloads.py NAME FOLDER URL. Exit 5: the run was not exact, so that it shows
nothing. Exit 3: a time is over its limit. Exit 2: the client did something else than the plan."""
import json
import random
import subprocess
import sys
import urllib.request
from datetime import datetime

name, work, url = sys.argv[1:4]


def run(plan, out):
    """Runs a plan and returns its nodes by id, or ends with 5 if one has numbers that are not exact."""
    with open(f"{work}/{out}.yaml", "w") as f:
        f.write(plan)
    log()  # forget what came before
    done = subprocess.run(
        [f"{work}/sluice", "run", f"{work}/{out}.yaml", "--quiet", "--out", f"{work}/{out}"],
        capture_output=True, text=True)
    if done.returncode not in (0, 5):
        wrong(f"{out}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    with open(f"{work}/{out}/result.json") as f:
        result = json.load(f)
    for n in result["nodes"]:
        numbers = n["validity"].get("numbers", "")
        if numbers != "exact" or not n["validity"]["ok"]:
            why = [f["text"] for f in n["validity"]["findings"] if f["severity"] in ("invalid", "bounded")]
            print(f"{name}: the numbers of {n['id']} are {numbers}: {'; '.join(why)}: again")
            sys.exit(5)
    begun = datetime.fromisoformat(result["started"].replace("Z", "+00:00")[:26].rstrip("+") + "+00:00")
    fraction = result["started"].rstrip("Z").partition(".")[2].ljust(9, "0")
    origin = int(begun.replace(microsecond=0).timestamp()) * 10**9 + int(fraction[:9])
    return origin, {n["id"]: n for n in result["nodes"]}


def wrong(text):
    print(text)
    sys.exit(2)


def log():
    with urllib.request.urlopen(url + "/log") as f:
        return json.load(f) or []


def value(node, metric, stat="value"):
    return node["metrics"][metric].get(stat)


def figures(what, ns, limit):
    """Prints the percentiles of times, and checks that none is over a limit, ms."""
    ms = sorted(v / 1e6 for v in ns)
    at = lambda p: ms[min(int(p / 100 * len(ms)), len(ms) - 1)]
    over = sum(abs(v) > limit for v in ms)
    print(f"{name}: {what}: {len(ms)} of them, ms: least {ms[0]:.3f}, p50 {at(50):.3f}, p99 {at(99):.3f}, "
          f"p99.9 {at(99.9):.3f}, most {ms[-1]:.3f}; {over} over {limit} ms")
    if over:
        print(f"{name}: {over} of {len(ms)} are over {limit} ms")
        sys.exit(3)


def trace():
    """10,000 rows in 2,000 sessions: each turn is sent at max(recorded, end of the turn before)."""
    draw = random.Random(1)
    recorded = {}
    with open(f"{work}/trace.jsonl", "w") as f:
        for s in range(2000):
            at = 3 * s
            for k in range(5):
                recorded[f"s{s}.{k}"] = at * 10**6
                f.write(json.dumps({"session_id": f"s{s}", "prompt": f"s{s}.{k}", "timestamp": at,
                                    "output_tokens": draw.randint(1, 30)}) + "\n")
                at += draw.randint(0, 40)
    origin, nodes = run(f"""version: 1
target: {{backend: openai, url: "{url}", model: m, endpoint: chat, probe: false}}
data: {{file: trace.jsonl, format: jsonl, time_unit: ms}}
stages:
  - {{id: s, load: {{schedule: {{}}, max_in_flight: 256}}, assert: [errors.count == 0, requests.count == 10000]}}
""", "trace")
    start = origin + round(nodes["s"]["started"] * 1e9)
    seen = {v["text"]: v for v in log()}
    if len(seen) != len(recorded):
        wrong(f"trace: the server saw {len(seen)} of {len(recorded)} rows")
    late, waited = [], 0
    for row, at in recorded.items():
        s, k = row.split(".")
        want = start + at
        if k != "0":
            before = seen[f"{s}.{int(k) - 1}"]["end"]
            waited += before > want
            want = max(want, before)
        late.append(seen[row]["at"] - want)
    print(f"trace: {waited} turns waited for the one before")
    if not 500 < waited < 7500:
        wrong("trace: too few or too many turns waited for the one before")
    if min(late) < -0.1e6:  # clocks of two processes, each wall time at its start and monotonic from there
        wrong(f"trace: a row was sent {-min(late) / 1e6:.3f} ms before its time")
    figures("from max(recorded, end of the turn before) to the server", late, 1)


def cancel():
    """20 of 100 requests are closed 50 ms after their send."""
    run(f"""version: 1
target: {{backend: openai, url: "{url}", model: m, endpoint: chat, probe: false}}
data: {{rows: [{{prompt: x, output_tokens: 200}}]}}
stages:
  - {{id: s, load: {{rate: 50/s}}, cancel: {{ratio: 20%, after: 50ms}}, for: 100 requests,
     assert: [cancelled.by_us == 20, errors.count == 0, latency.min > 199ms]}}
""", "cancel")
    seen = log()
    closed = [v["end"] - v["at"] - 50 * 10**6 for v in seen if v["closed"]]
    if len(seen) != 100 or len(closed) != 20:
        wrong(f"cancel: the server saw {len(seen)} requests, of which {len(closed)} were closed")
    figures("closed, from 50 ms after they came", closed, 2)


def users():
    """Eight users with 20 requests a second each: the gaps between the starts of each are 50 ms."""
    run(f"""version: 1
target: {{backend: openai, url: "{url}", model: m, endpoint: chat, probe: false}}
data: {{rows: [{{prompt: x, output_tokens: 10}}]}}
stages:
  - {{id: s, load: {{rate: 20/s, of: users}}, sequences: {{live: 8}}, for: 15s, assert: [errors.count == 0]}}
""", "users")
    by = {}
    for v in log():
        by.setdefault(v["client"], []).append(v["at"])
    if len(by) != 8:
        wrong(f"users: {len(by)} connections")
    gaps = [b - a - 50 * 10**6 for list in by.values() for a, b in zip(list, list[1:])]
    figures("gaps between starts, from 50 ms", gaps, 1)


def cache():
    """A server with a cache of prefixes sees no prompt of another level or stage, unless `reuse` says so."""
    plan = """version: 1
target: {{backend: openai, url: builtin://http, model: chat, streaming: true,
  builtin: {{ttft: 40ms, itl: 2ms, generation: {{prefix_cache: true}}}}}}
data: {{prompts: {{count: 20, input_tokens: 200, output_tokens: 8{reuse}}}}}
defaults: {{load: {{concurrency: 4}}, for: 100 requests, warmup: 8 requests, assert: [errors.count == 0]}}
stages:
  - {{id: levels, load: {{concurrency: [1, 4, 16]}}}}
  - {{id: a}}
  - {{id: b}}
"""
    _, fresh = run(plan.format(reuse=""), "fresh")
    _, again = run(plan.format(reuse=", reuse: all"), "again")
    share = lambda nodes: {id: value(n, "tokens.cached.share") for id, n in nodes.items()}
    print(f"cache: cached share of fresh prompts {share(fresh)}, with reuse {share(again)}")
    if any(v for v in share(fresh).values()):
        wrong("cache: the server had seen prompts that no plan wanted to send again")
    if not all(share(again)[id] > 0.5 for id in ("a", "b")):
        wrong("cache: `reuse: all` sends the same prompts again, and the server had seen few")
    for metric in ("ttft", "latency"):
        a, b = (value(fresh[id], metric, "mean") for id in ("a", "b"))
        print(f"cache: mean {metric} of A and A: {1e3 * a:.2f} and {1e3 * b:.2f} ms, {100 * abs(a / b - 1):.2f} % apart")
        if abs(a / b - 1) > 0.03:
            wrong(f"cache: {metric} of A and A differ by more than 3 %")


{"trace": trace, "cancel": cancel, "users": users, "cache": cache}[name]()
