"""Checks a profile export and a table of perf_analyzer's form: check_export.py EXPORT [TABLE].

The keys, their order and the types are those of files that perf_analyzer 2.60 wrote; the values must make sense.
"""

import csv
import json
import sys

HEAD = ["Inferences/Second", "Response Throughput", "Client Send", "Network+Server Send/Recv", "Server Queue",
        "Server Compute Input", "Server Compute Infer", "Server Compute Output", "Server Cache Hit", "Server Cache Miss", "Client Recv",
        "p50 latency", "p90 latency", "p95 latency", "p99 latency", "Avg latency", "request/response", "response wait",
        "Avg GPU Utilization", "Avg GPU Power Usage", "Max GPU Memory Usage", "Total GPU Memory"]
MAY_LACK = {"Response Throughput", "Server Cache Hit", "Server Cache Miss", *HEAD[HEAD.index("Avg latency"):]}


def demand(holds, *what):
    if not holds:
        sys.exit(" ".join(str(w) for w in what))


def export(name):
    text = open(name).read()
    data = json.loads(text)
    demand("\n" not in text, name, "has more than one line")
    demand(list(data) == ["experiments", "version", "service_kind", "endpoint"], name, "keys", list(data))
    demand(data["service_kind"] == "triton" and data["endpoint"] == "", name, data["service_kind"], data["endpoint"])
    demand(data["experiments"], name, "has no experiment")
    for e in data["experiments"]:
        demand(list(e) == ["experiment", "requests", "window_boundaries"], "experiment keys", list(e))
        demand(list(e["experiment"]) == ["mode", "value"], e["experiment"])
        kind = {"concurrency": int, "request_rate": float}[e["experiment"]["mode"]]
        demand(type(e["experiment"]["value"]) is kind, e["experiment"])
        edges = e["window_boundaries"]
        demand(len(edges) > 1 and edges == sorted(edges) and len(set(edges)) == len(edges), "window_boundaries", edges)
        demand(e["requests"], "no requests")
        for r in e["requests"]:
            request(r, edges)


def request(r, edges):
    keys = [k for k in r if k != "sequence_id"]
    demand(keys == ["timestamp", "request_inputs", "response_timestamps", "response_outputs"], "request keys", list(r))
    demand(list(r)[1] in ("sequence_id", "request_inputs"), "request keys", list(r))
    times = r["response_timestamps"]
    demand(all(type(t) is int for t in [r["timestamp"], *times]), "times", r)
    demand([r["timestamp"], *times] == sorted([r["timestamp"], *times]), "times go back", r)
    demand(edges[0] <= r["timestamp"] <= edges[-1] + 10**9, "outside the windows", r["timestamp"], edges)
    demand(len(times) == len(r["response_outputs"]), "outputs", r)
    demand(r["request_inputs"] and all(o for o in r["response_outputs"]), "no values", r)
    for values in [r["request_inputs"], *r["response_outputs"]]:
        for v in values.values():
            demand(type(v) in (int, float, str, bool) or type(v) is list and len(v) > 1, "value", v)
    if set(r["request_inputs"]) == {"INPUT0", "INPUT1"} and len(times) == 1 and "OUTPUT1" in r["response_outputs"][0]:
        a, b, out = r["request_inputs"]["INPUT0"], r["request_inputs"]["INPUT1"], r["response_outputs"][0]
        demand(out == {"OUTPUT0": [x + y for x, y in zip(a, b)], "OUTPUT1": [x - y for x, y in zip(a, b)]}, "sums", r)


def table(name):
    rows = list(csv.reader(open(name)))
    head = rows[0]
    demand(head[0] in ("Concurrency", "Request Rate"), name, head)
    demand(head[1:] == [c for c in HEAD if c in head], name, "columns", head)
    demand(set(HEAD) - set(head) <= MAY_LACK, name, "lacks", set(HEAD) - set(head) - MAY_LACK)
    demand(len(rows) > 1, name, "has no row")
    speeds = [float(r[1]) for r in rows[1:]]
    demand(speeds == sorted(speeds), name, "rows are not in the order of their throughput")
    for r in rows[1:]:
        for column, cell in list(zip(head, r))[2:]:
            demand(column.endswith(("Throughput", "GPU Utilization", "Usage", "Memory")) or cell.isdecimal(), name, column, cell)


export(sys.argv[1])
for name in sys.argv[2:]:
    table(name)
