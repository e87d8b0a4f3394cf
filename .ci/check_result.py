#!/usr/bin/env python3
"""Checks what a run against a real server left, beyond its exit code.

usage: check_result.py PLAN BACKEND FOLDER
"""
import csv
import json
import pathlib
import sys


def fail(text):
    sys.exit(f"{sys.argv[3]}: {text}")


def value(node, metric, leaf="value"):
    found = node["metrics"].get(metric, {}).get(leaf)
    if found is None:
        fail(f"{node['id']} has no {metric} {leaf}")
    return found


def check_node(node, backend):
    name = node["id"]
    if node["outcome"] != "done" or not node["validity"]["ok"]:
        fail(f"{name}: {node['outcome']}, {node['validity']}")
    if value(node, "errors.count") != 0 or node["errors"]:
        fail(f"{name}: errors {node['errors']}")
    requests = value(node, "requests.count")
    if requests < 50 or value(node, "latency", "count") != requests:
        fail(f"{name}: {requests} requests, {value(node, 'latency', 'count')} latencies")
    verdicts = [a["verdict"] for a in node["assertions"]]
    if not verdicts or set(verdicts) != {"pass"}:
        fail(f"{name}: {verdicts}")
    if backend == "triton":
        check_statistics(node, requests)
    elif any(m.startswith("server.") for m in node["metrics"]):
        fail(f"{name} has statistics that this server does not keep")


def check_statistics(node, requests):
    """Triton's own counters must agree with what the client sent and measured."""
    for metric in ("server.queue.mean", "server.compute_input.mean", "server.compute_infer.mean", "server.compute_output.mean"):
        if not 0 <= value(node, metric) <= value(node, "latency", "max"):
            fail(f"{node['id']}: {metric} is {value(node, metric)}")
    executions = value(node, "server.executions.count")
    if not 0 < executions <= 1.2 * requests + 10:
        fail(f"{node['id']}: {executions} executions for {requests} requests")


def check_slow(nodes):
    """One request at a time to a model of 20 ms: the answer is known."""
    for concurrency, node in ((1, nodes["alone"]), (4, nodes["queued"])):
        product = value(node, "throughput") * value(node, "latency", "mean")
        if abs(product / concurrency - 1) > 0.02:
            fail(f"{node['id']}: throughput times latency is {product}, not {concurrency}")
    print(f"alone: latency.p50 {value(nodes['alone'], 'latency', 'p50') * 1e3:.2f} ms")


def main(plan, backend, folder):
    folder = pathlib.Path(folder)
    result = json.loads((folder / "result.json").read_text())
    if result["verdict"] != "pass" or result["exit_code"] != 0 or result["state"] != "done":
        fail(f"{result['verdict']}, exit code {result['exit_code']}, state {result['state']}")
    if result["plan"]["name"] != plan:
        fail(f"plan {result['plan']['name']}")
    nodes = {node["id"]: node for node in result["nodes"]}
    for node in nodes.values():
        check_node(node, backend)
    if plan == "slow":
        check_slow(nodes)
    with open(folder / "stages.csv", newline="") as file:
        rows = [row["node"] for row in csv.DictReader(file) if not row["scope"]]  # others are parts of a node, like attempts
    if rows != list(nodes):
        fail(f"nodes in stages.csv are {rows}, in result.json {list(nodes)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
