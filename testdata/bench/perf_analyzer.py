"""Sluice and the real perf_analyzer side by side on one Triton: pairs of turns, who goes first changing, same model and
tensors, ratios by pair. Both reports are printed, then a table with the bars that Sluice is held to.

    python3 testdata/bench/perf_analyzer.py SLUICE PERF_ANALYZER [--pairs 3] [--seconds 4] [--grpcloop FILE] [--strict]

Triton must run on its usual ports of testdata/servers/triton.sh. CPU is that of whole processes, start-up included, per
request that the server counted in the meantime. The least CPU is that of a client which sends the same bytes again and
looks at no reply: wrk over HTTP and, where --grpcloop names the built testdata/bench/grpcloop, a bare grpc-go loop. With
--strict a missed bar is exit code 1.

The server's own times are compared in pairs of their own, at 1, 4 and 16 in flight on the same backend when it sleeps for 2 ms
in each execution. Without that its work is some 20 µs, which a client's own use of the same cores moves, and of a faster client
more requests wait in the server: those times are in the table.
"""

import argparse
import csv
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import urllib.request

HTTP, GRPC = "127.0.0.1:18000", "127.0.0.1:18001"
MODEL, SLOW = "identity_fp32", "identity_slow"


def served():
    with urllib.request.urlopen(f"http://{HTTP}/v2/models/stats") as reply:
        stats = json.load(reply)["model_stats"]
    return sum(s["inference_stats"]["success"]["count"] for s in stats)


def measured(command):
    """Runs a command; its CPU time for each request that the server answered meanwhile, in µs, and what it printed."""
    requests, before = served(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 2, 5):  # 2: perf_analyzer is not stable; 5: a busy machine
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu / max(served() - requests, 1) * 1e6, done.stdout


class Case:
    def __init__(self, protocol, concurrency, floats, shared=False, cpu=None, bars=True, model=MODEL):
        self.protocol, self.concurrency, self.floats, self.shared, self.model = protocol, concurrency, floats, shared, model
        self.cpu, self.bars = cpu, bars

    def name(self):
        size = f"{self.floats * 4 >> 20} MB" if self.floats > 1 << 16 else f"{self.floats * 4} B"
        return f"{self.protocol} c={self.concurrency} {size}" + (" shared memory" if self.shared else "")

    def sluice(self, binary, seconds, work):
        plan, out = os.path.join(work, "plan.yaml"), os.path.join(work, "out")
        url = {"http": f"http://{HTTP}", "grpc": f"grpc://{GRPC}"}[self.protocol]
        shared = f", shared_memory: {{kind: system, output_size: {self.floats * 4}B}}" if self.shared else ""
        with open(plan, "w") as f:
            f.write(
                f"version: 1\ntarget: {{backend: triton, url: \"{url}\", model: {self.model}}}\nstages:\n"
                f"  - {{id: s, load: {{concurrency: {self.concurrency}}}, shapes: {{INPUT0: [{self.floats}]}}, warmup: 1s, for: {seconds}s{shared}}}\n"
            )
        cpu, text = measured([binary, "run", plan, "--out", out])
        with open(os.path.join(out, "result.json")) as f:
            m = json.load(f)["nodes"][0]["metrics"]
        value = lambda name: m[name]["value"] or 0.0
        compute = sum(value(f"server.compute_{part}.mean") for part in ("input", "infer", "output"))
        return dict(rate=m["throughput"]["value"], p50=m["latency"]["p50"] * 1e6, queue=value("server.queue.mean") * 1e6, compute=compute * 1e6, cpu=cpu), text

    def perf_analyzer(self, binary, seconds, work):
        out = os.path.join(work, "pa.csv")
        url = {"http": HTTP, "grpc": GRPC}[self.protocol]
        command = [binary, "-m", self.model, "-u", url, "-i", self.protocol, "--shape", f"INPUT0:{self.floats}", "-f", out]
        command += ["--concurrency-range", str(self.concurrency), "-p", str(1000 * seconds // 3), "-s", "1000000", "-r", "3"]
        if self.shared:
            command += ["--shared-memory", "system", "--output-shared-memory-size", str(self.floats * 4)]
        cpu, text = measured(command)
        with open(out) as f:
            row = list(csv.DictReader(f))[0]
        compute = sum(float(row[f"Server Compute {part}"]) for part in ("Input", "Infer", "Output"))
        return dict(rate=float(row["Inferences/Second"]), p50=float(row["p50 latency"]), queue=float(row["Server Queue"]), compute=compute, cpu=cpu), text

    def least(self, grpcloop, seconds, work):
        """CPU for each request of a client that does nothing else; None where there is no such client."""
        raw = bytes(4 * self.floats)
        if self.shared:
            return None
        if self.protocol == "grpc":
            if not grpcloop:
                return None
            message = os.path.join(work, "message")
            with open(message, "wb") as f:
                f.write(model_infer(raw, self.floats))
            command = [grpcloop, "-target", GRPC, "-method", "/inference.GRPCInferenceService/ModelInfer", "-message", message]
            return measured(command + ["-workers", str(self.concurrency), "-for", f"{seconds}s"])[0]
        head = {"inputs": [{"name": "INPUT0", "datatype": "FP32", "shape": [1, self.floats], "parameters": {"binary_data_size": len(raw)}}]}
        head["parameters"] = {"binary_data_output": True}
        text = json.dumps(head).encode()
        body, script = os.path.join(work, "body"), os.path.join(work, "wrk.lua")
        with open(body, "wb") as f:
            f.write(text + raw)
        with open(script, "w") as f:
            f.write(f'wrk.method = "POST"\nwrk.body = io.open("{body}", "rb"):read("*a")\nwrk.headers["Inference-Header-Content-Length"] = "{len(text)}"\n')
        command = ["wrk", "-t", "1", "-c", str(self.concurrency), "-d", f"{seconds}s", "-s", script]
        return measured(command + [f"http://{HTTP}/v2/models/{MODEL}/infer"])[0]


def model_infer(raw, floats):
    """The bytes of an inference.ModelInferRequest for one FP32 tensor of shape [1, floats]."""

    def varint(n):
        out = bytearray()
        while n > 127:
            out.append(n & 127 | 128)
            n >>= 7
        out.append(n)
        return bytes(out)

    def field(number, value):
        return varint(number << 3 | 2) + varint(len(value)) + value

    tensor = field(1, b"INPUT0") + field(2, b"FP32") + field(3, varint(1) + varint(floats))
    return field(1, MODEL.encode()) + field(5, tensor) + field(7, raw)


def near(ours, theirs, whole):
    """Within 5 %, or within 1 % of the whole: with one in flight, queue is no more than the time in which a thread wakes."""
    return abs(ours - theirs) <= max(0.05 * theirs, 0.01 * whole)


def compare(case, args, work, quiet):
    pairs = []
    for i in range(args.pairs):
        turns = [("sluice", lambda: case.sluice(args.sluice, args.seconds, work)), ("perf_analyzer", lambda: case.perf_analyzer(args.perf_analyzer, args.seconds, work))]
        pair = {}
        for name, turn in turns if i % 2 == 0 else reversed(turns):
            pair[name], text = turn()
            if i == 0 and not quiet:
                print(f"--- {name}, {case.name()}\n{text}")
        pairs.append((pair["sluice"], pair["perf_analyzer"]))
    med = [{k: statistics.median(p[i][k] for p in pairs) for k in pairs[0][0]} for i in (0, 1)]
    least = case.least(args.grpcloop, args.seconds, work)
    ratio = {k: statistics.median(a[k] / max(b[k], 1e-9) for a, b in pairs) for k in ("rate", "p50", "cpu")}
    missed = []
    if case.bars:
        missed += ["throughput < 0.97"] * (ratio["rate"] < 0.97) + ["p50 > 1.05"] * (ratio["p50"] > 1.05)
    if case.cpu and ratio["cpu"] > case.cpu:
        missed.append(f"CPU > {case.cpu}")
    line = f"{case.name():28}"
    for key in ("rate", "p50", "cpu"):
        line += f" | {med[0][key]:9.1f} {med[1][key]:9.1f} {ratio[key]:5.2f}"
    line += f" {least:7.1f} {least / med[1]['cpu']:5.2f}" if least else " " * 14
    line += f" | {med[0]['queue']:7.1f} {med[1]['queue']:7.1f} | {med[0]['compute']:7.1f} {med[1]['compute']:7.1f} | {'missed: ' + ', '.join(missed) if missed else 'holds'}"
    return line, missed


def server(case, args, work):
    """What the server measures of itself under both clients: a line, and what is missed."""
    turns = []
    for _ in range(args.pairs):
        turns.append((case.sluice(args.sluice, args.seconds, work)[0], case.perf_analyzer(args.perf_analyzer, args.seconds, work)[0]))
    ours, theirs = ({k: statistics.median(t[i][k] for t in turns) for k in ("queue", "compute")} for i in (0, 1))
    missed = [k for k in ours if not near(ours[k], theirs[k], sum(theirs.values()))]
    text = ", ".join(f"{k} {ours[k]:.1f} and {theirs[k]:.1f} µs" for k in ours)
    return f"server's own times, {case.protocol} c={case.concurrency} {case.model}: {text}: {'missed: ' + ', '.join(missed) if missed else 'holds'}", missed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("sluice")
    parser.add_argument("perf_analyzer")
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=4)
    parser.add_argument("--grpcloop")
    parser.add_argument("--strict", action="store_true")
    args = parser.parse_args()
    cases = [Case(p, c, 16, cpu={"http": 0.35, "grpc": 0.6}[p]) for p in ("http", "grpc") for c in (1, 4, 16)]
    cases += [Case("http", 1, 1 << 18, cpu=1 / 3, bars=False), Case("grpc", 1, 1 << 18, bars=False)]
    cases += [Case(p, 1, 1 << 18, shared=True, cpu=1.0, bars=False) for p in ("http", "grpc")]
    lines, missed = [], 0
    with tempfile.TemporaryDirectory() as work:
        for i, case in enumerate(cases):
            line, bars = compare(case, args, work, quiet=i > 0)
            lines.append(line)
            missed += len(bars)
        for protocol in ("http", "grpc"):
            for c in (1, 4, 16):
                line, bars = server(Case(protocol, c, 16, model=SLOW), args, work)
                lines.append(line)
                missed += len(bars)
    print(f"{args.pairs} pairs of {args.seconds} s, medians: sluice, perf_analyzer, ratio by pair; for CPU also the least and its ratio to perf_analyzer")
    print(f"{'':28} | {'inferences/s':^25} | {'p50 µs':^25} | {'client CPU µs a request':^39} | {'queue µs':^15} | {'compute µs':^15} |")
    print("\n".join(lines))
    if missed and args.strict:
        sys.exit(1)


main()
