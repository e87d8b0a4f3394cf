"""Compares the CPU a request of backend grpc, which finds the method by reflection, with that of backend kserve.

    python3 testdata/bench/reflection.py SLUICE [--pairs 5] [--seconds 3]

Both call ModelInfer of the embedded server, a process of its own, with the same tensors, 16 in flight, in turns. What a
run of 50 requests takes, its start and the reading of definitions, is left out. The load of the machine is printed beside
the figures. Exit code 1: a request failed, or the median of the pairs' ratios is over 1.05, of which the 0.05 are what
turns of one client differ by.
"""

import argparse
import base64
import json
import os
import resource
import statistics
import struct
import subprocess
import sys
import tempfile

VALUES = list(range(16))
RAW = base64.b64encode(struct.pack("<16i", *VALUES)).decode()
INPUTS = [{"name": name, "datatype": "INT32", "shape": [1, 16]} for name in ("INPUT0", "INPUT1")]
PLANS = {
    "kserve": {"target": {"backend": "kserve", "model": "simple"}, "rows": [{"INPUT0": VALUES, "INPUT1": VALUES}]},
    "grpc": {
        "target": {"backend": "grpc", "method": "inference.GRPCInferenceService/ModelInfer"},
        "rows": [{"model_name": "simple", "inputs": INPUTS, "raw_input_contents": [RAW, RAW]}],
    },
}


def run(a, name, url, folder, extent):
    """Runs a plan and returns the client's CPU seconds, its requests, and requests a second."""
    p = PLANS[name]
    plan = {
        "version": 1, "target": p["target"] | {"url": url}, "data": {"rows": p["rows"]},
        "stages": [{"id": "s", "load": {"concurrency": 16}, "for": extent}],
    }  # fmt: skip
    os.mkdir(folder)
    with open(os.path.join(folder, "plan.yaml"), "w") as f:
        json.dump(plan, f)  # JSON is YAML
    out = os.path.join(folder, "out")
    command = [a.sluice, "run", os.path.join(folder, "plan.yaml"), "--out", out, "--allow", "inconclusive"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 5):  # 5: this machine was busy; a failed request is 1
        sys.exit(f"backend {name}: exit code {done.returncode}\n{done.stdout.decode()}")
    with open(os.path.join(out, "result.json")) as f:
        metrics = json.load(f)["nodes"][0]["metrics"]
    if metrics["errors.count"]["value"] != 0:
        sys.exit(f"backend {name}: requests failed\n{done.stdout.decode()}")
    took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return took, metrics["requests.count"]["value"], metrics["requests.rate"]["value"]


def cost(a, name, url, folder):
    """Returns the client's CPU seconds a request, and requests a second."""
    start, few, _ = run(a, name, url, folder + "-start", "50 requests")
    took, requests, rate = run(a, name, url, folder, f"{a.seconds}s")
    return (took - start) / (requests - few), rate


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("sluice")
    p.add_argument("--pairs", type=int, default=5)
    p.add_argument("--seconds", type=int, default=3)
    a = p.parse_args()
    server = subprocess.Popen([a.sluice, "serve"], stdout=subprocess.PIPE)
    try:
        url = json.loads(server.stdout.readline())["grpc"]
        turns = {name: [] for name in PLANS}
        with tempfile.TemporaryDirectory() as folder:
            for i in range(a.pairs):
                for name in sorted(PLANS, reverse=i % 2 == 1):  # who goes first changes
                    turns[name].append(cost(a, name, url, os.path.join(folder, f"{i}-{name}")))
    finally:
        server.terminate()
        server.wait()
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} CPUs, {a.pairs} x {a.seconds} s, medians")
    for name, list_ in turns.items():
        each, rate = (statistics.median(column) for column in zip(*list_))
        print(f"backend {name:8s} {rate:9.0f} requests/s {each * 1e6:7.1f} us of CPU a request")
    ratios = [g[0] / k[0] for g, k in zip(turns["grpc"], turns["kserve"])]
    print(f"CPU a request of grpc {statistics.median(ratios):.2f} times kserve's ({min(ratios):.2f} to {max(ratios):.2f})")
    sys.exit(statistics.median(ratios) > 1.05)


main()
