#!/usr/bin/env python3
"""Checks a Poisson stage against the arrivals that the server itself stamped.

usage: check_arrivals.py CONTROL_URL RATE RESULT

The gaps must be exponential (Kolmogorov-Smirnov at 1 %), the server must have seen every arrival of the schedule, and the
rate of answers must be within 1 % of the schedule's own. Prints the schedule's hash.
"""
import json
import math
import sys
import urllib.request

control, rate, file = sys.argv[1], float(sys.argv[2]), sys.argv[3]
with urllib.request.urlopen(f"{control}/sim/arrivals", timeout=10) as reply:
    times = json.load(reply)["arrivals"]
with open(file) as f:
    node = json.load(f)["nodes"][0]
metrics = {name: m.get("value") for name, m in node["metrics"].items()}

planned = round(metrics["offered.rate"] * node["duration"])
if not len(times) == planned == metrics["requests.count"]:
    sys.exit(f"planned {planned}, the server saw {len(times)}, counted {metrics['requests.count']}")
if abs(metrics["requests.rate"] / metrics["offered.rate"] - 1) > 0.01:
    sys.exit(f"achieved {metrics['requests.rate']}/s of {metrics['offered.rate']}/s")

gaps = sorted((b - a) / 1e9 for a, b in zip(times, times[1:]))
n = len(gaps)
distance = 0.0
for i, gap in enumerate(gaps):
    cdf = 1 - math.exp(-rate * gap)
    distance = max(distance, cdf - i / n, (i + 1) / n - cdf)
critical = 1.628 / math.sqrt(n)
print(f"{n} gaps, KS distance {distance:.4f}, critical at 1 % {critical:.4f}", file=sys.stderr)
if distance > critical:
    sys.exit("the arrivals are no Poisson process")
print(node["load"]["schedule_hash"])
