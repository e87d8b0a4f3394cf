#!/usr/bin/env python3
"""Checks the requests of a run of plan.yaml one by one, whether or not this machine had time to measure them.

usage: check.py FOLDER             each answer has the events and tokens of its script
       check.py FOLDER LOG LINES   a run of count and alone: the server's log, behind its first LINES, has the same
                                   requests and times. Exit code 5: this machine was too busy to compare times

The log has the requests in the order in which they ended: the time of the prompt up to the first token, and that of all
tokens after it.
"""

import json
import pathlib
import re
import statistics
import sys

# Events with text, and tokens by the usage, of each answer.
SIXTEEN = (16, 16)
ANSWERS = {
    "count": SIXTEEN, "alone": SIXTEEN, "rate": SIXTEEN, "stop": (6, 7), "think": (5, 8), "call": (4, 7),
    "spell": (7, 22), "completions": SIXTEEN, "native": SIXTEEN, "responses": SIXTEEN,
    "messages": SIXTEEN,
}
# Tokens by the tokenizer in the text of each answer. The server cuts the space before the first word of a message, which is
# then a token for each letter ("amber" for " amber"); of "think" and "call" it keeps marks for itself, and writes the call
# anew; and usage has the token that ends an answer, which is in no text.
TOKENIZED = {
    "count": 20, "alone": 20, "rate": 20, "whole": 20, "responses": 20, "messages": 20, "completions": 16, "native": 16,
    "stop": 8, "think": 5, "call": 17, "whole_call": 17, "spell": 21,
}
BROKEN = {"broken", "small"}  # stages with errors within streams
TTFT, ITL = 2e-3, 0.05  # limits of the differences: of times to first tokens in s, of times between tokens in parts


def timings(log):
    """The requests that the server ended: the times of prompt and tokens in s, and the number of tokens."""
    prompts = [float(ms) / 1e3 for ms in re.findall(r"prompt eval time = +([\d.]+) ms", log)]
    tokens = re.findall(r"\|  +eval time = +([\d.]+) ms / +(\d+) tokens", log)
    if len(prompts) != len(tokens):
        sys.exit(f"{len(prompts)} prompts and {len(tokens)} answers in the log")
    return [(prompt, float(ms) / 1e3, int(n)) for prompt, (ms, n) in zip(prompts, tokens)]


def findings(folder):
    """The codes of what the result says of the stage alone."""
    nodes = json.loads((pathlib.Path(folder) / "result.json").read_text())["nodes"]
    return [f["code"] for node in nodes if node["id"] == "alone" for f in node["validity"]["findings"]]


def check_counts(nodes):
    """Usage, tokenizer and events stand side by side, and what is over 5 % and a token apart is said."""
    seen = {}
    for node in nodes:
        if node["id"] not in TOKENIZED:
            continue
        counts, n = node["token_counts"], node["token_counts"]["answers"]
        tokens, usage = TOKENIZED[node["id"]], counts["usage"] / n
        if n != node["metrics"]["requests.count"]["value"] or counts["tokenizer"] != tokens * n:
            sys.exit(f"{node['id']}: {counts}, want {tokens} tokens by the tokenizer in each answer")
        said = any(f["code"] == "token-counts-differ" for f in node["validity"]["findings"])
        if said != (abs(usage - tokens) > 1 and abs(usage - tokens) > 0.05 * usage):
            sys.exit(f"{node['id']}: usage {usage}, tokenizer {tokens}, finding: {said}")
        seen[node["id"]] = f"{usage:.0f} and {tokens}"
    if seen.keys() != TOKENIZED.keys():
        sys.exit(f"no counts of {TOKENIZED.keys() - seen.keys()}")
    print(f"tokens of an answer by usage and tokenizer: {seen}")


def check_answers(samples):
    for s in samples:
        if s["class"] != "ok" and not (s["class"] == "server" and s["node"] in BROKEN):
            sys.exit(f"a request failed: {s}")
        if (s["responses"], s.get("output_tokens")) != ANSWERS.get(s["node"], (s["responses"], s.get("output_tokens"))):
            sys.exit(f"an answer has not {ANSWERS[s['node']]} events and tokens: {s}")


def main(folder, log=None, lines=0):
    samples = [json.loads(line) for line in (pathlib.Path(folder) / "samples.jsonl").read_text().splitlines()]
    check_answers(samples)
    if not log:
        check_counts(json.loads((pathlib.Path(folder) / "result.json").read_text())["nodes"])
        print(f"{len(samples)} requests have the answers of their scripts")
        return
    ended = timings("\n".join(pathlib.Path(log).read_text().splitlines()[int(lines):]))
    if len(ended) != len(samples) + 1:  # one tries the target first
        sys.exit(f"the server ended {len(ended)} requests, this client {len(samples)} and one before them")
    alone = [s for s in samples if s["node"] == "alone"]
    ttft, itl = [], []
    for s, (prompt, after, n) in zip(alone, ended[-len(alone):]):
        if n != s["output_tokens"]:
            sys.exit(f"the server counts {n} tokens, its usage {s['output_tokens']}")
        if "coalesced" in s.get("flags", []):
            continue  # this client read late
        first, last = s["response_times"][0], s["response_times"][-1]
        ttft.append(first - s["send_start"] - prompt)
        itl.append((last - first) / after)
    print(f"{len(ended)} requests at both ends; of {len(ttft)} of {len(alone)} alone:", end=" ")
    if len(ttft) < 10:
        print("too few were read in time")
        sys.exit(5)
    late, ratio = statistics.median(ttft), statistics.median(itl)
    print(f"first token {late * 1e3:+.2f} ms from the server's time, between tokens {ratio:.3f} of it")
    if abs(late) > TTFT or abs(ratio - 1) > ITL:
        print(f"that is more than {TTFT * 1e3:.0f} ms, or {ITL:.0%}")
        sys.exit(5 if "busy-machine" in findings(folder) else 1)


if __name__ == "__main__":
    main(*sys.argv[1:])
