"""Runs Sluice and ghz on grpc-go's test service, in turns, and prints requests a second and CPU a request of each.

    testdata/servers/interop.sh start
    go install github.com/bojand/ghz/cmd/ghz@v0.121.0
    python3 testdata/bench/ghz.py SLUICE GHZ [--pairs 3] [--seconds 5]

Both find the method by reflection and keep 16 calls in flight, on 16 connections; ghz also on one, its default. The load of
the machine is printed beside the figures: other programs slow both, and not alike. Exit code 1: a request of either failed,
or of ghz's better figures Sluice has less than 1.5 times the throughput, or more than 0.6 times the CPU a request.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile

METHOD = "grpc.testing.TestService/UnaryCall"
PLAN = """version: 1
target: {{backend: grpc, url: "grpc://{address}", method: {method}}}
data: {{rows: [{body}]}}
stages: [{{id: s, load: {{concurrency: 16}}, warmup: 500ms, for: {seconds}s}}]
"""


def cpu(command, codes):
    """Runs a command, which must end with one of these exit codes, and returns the CPU seconds that it took, and its output."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if run.returncode not in codes:
        sys.exit(f"{command[0]}: exit code {run.returncode}\n{run.stdout.decode()}{run.stderr.decode()}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, run.stdout


def sluice(a, folder):
    os.mkdir(folder)
    plan = os.path.join(folder, "plan.yaml")
    with open(plan, "w") as f:
        f.write(PLAN.format(address=a.address, method=METHOD, body=a.body, seconds=a.seconds))
    out = os.path.join(folder, "out")
    # 5: this machine was busy, which the load average shows; a failed request is 1, by the rule that every plan has.
    took, _ = cpu([a.sluice, "run", plan, "--out", out, "--allow", "inconclusive"], (0, 5))
    with open(os.path.join(out, "result.json")) as f:
        metrics = json.load(f)["nodes"][0]["metrics"]
    if metrics["errors.count"]["value"] != 0:
        sys.exit(f"{metrics['errors.count']['value']} requests of Sluice failed")
    rate = metrics["requests.rate"]["value"]
    return rate, took / (rate * (a.seconds + 0.5))


def ghz(a, connections):
    command = [
        a.ghz, "--insecure", "--call", METHOD, "--concurrency", "16", "--connections", str(connections),
        "--duration", f"{a.seconds}s", "--duration-stop", "wait", "--data", a.body, "--format", "json", a.address,
    ]  # fmt: skip
    took, out = cpu(command, (0,))
    report = json.loads(out)
    if set(report["statusCodeDistribution"]) != {"OK"} or report.get("errorDistribution"):
        sys.exit(f"requests of ghz failed: {report['statusCodeDistribution']} {report.get('errorDistribution')}")
    return report["rps"], took / report["count"]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("sluice")
    p.add_argument("ghz")
    p.add_argument("--address", default="127.0.0.1:18400")
    p.add_argument("--body", default='{"payload": {"body": "AAECAwQFBgc="}}')
    p.add_argument("--pairs", type=int, default=3)
    p.add_argument("--seconds", type=int, default=5)
    a = p.parse_args()
    runs = {"sluice": [], "ghz, 16 connections": [], "ghz, 1 connection": []}
    with tempfile.TemporaryDirectory() as folder:
        for i in range(a.pairs):
            runs["sluice"].append(sluice(a, os.path.join(folder, str(i))))
            runs["ghz, 16 connections"].append(ghz(a, 16))
            runs["ghz, 1 connection"].append(ghz(a, 1))
    figures = {name: [statistics.median(column) for column in zip(*list_)] for name, list_ in runs.items()}
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} CPUs, {a.pairs} x {a.seconds} s, medians")
    for name, (rate, each) in figures.items():
        print(f"{name:20s} {rate:9.0f} requests/s {each * 1e6:7.1f} us of CPU a request")
    turns = list(zip(*runs.values()))  # each: Sluice, and ghz twice; they share what the machine had to do
    throughput = statistics.median(own[0] / max(many[0], one[0]) for own, many, one in turns)
    each = statistics.median(own[1] / min(many[1], one[1]) for own, many, one in turns)
    print(f"throughput {throughput:.2f} times ghz's, CPU a request {each:.2f} times")
    sys.exit(throughput < 1.5 or each > 0.6)


main()
