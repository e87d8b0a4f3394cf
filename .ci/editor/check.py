"""Holds `sluice schema plan` against yaml-language-server: what an editor shows, offers and complains about.

    check.py SLUICE SERVER    the binary, and the server's script; from the root of the repository
"""

import pathlib
import re
import subprocess
import sys
import tempfile

import lsp

CURSOR = "‸"
TARGET = "target: {backend: triton, url: http://localhost:8000, model: m}\n"
STAGE = "stages:\n  - id: a\n    load: {concurrency: 1}\n    for: 5s\n"

# Completion: name, text, what is offered (a label, or a label and the text it inserts), what is not.
OFFERS = [
    ("keys of a plan", f"version: 1\n{CURSOR}\n", ["target", "stages", "profiles", "extends", "slos"], ["load"]),
    (
        "a target has backend, url and model",
        f"version: 1\n{CURSOR}\n",
        [("target", "target:\n  backend: ${1:triton}\n  url: ${2:http://localhost:8000}\n  model: ${3:resnet50}")],
        [],
    ),
    ("backends", f"version: 1\ntarget:\n  backend: {CURSOR}\n", ["kserve", "triton", "triton_inprocess", "openai", "tfserving"], ["builtin"]),
    ("backends in a flow map", f"version: 1\ntarget: {{backend: {CURSOR}}}\n", ["kserve", "triton", "openai"], ["builtin"]),
    ("until", f"version: 1\n{TARGET}stages:\n  - id: a\n    until: {CURSOR}\n", ["stable", "others"], []),
    ("when", f"version: 1\n{TARGET}stages:\n  - id: a\n    when: {CURSOR}\n", ["success", "failure", "always", "never"], []),
    (
        "formats",
        f"version: 1\n{TARGET}output:\n  formats:\n    - {CURSOR}\n{STAGE}",
        ["json", "csv", "junit", "markdown", "perf_analyzer_csv", "profile_export"],
        [],
    ),
    ("formats in a flow list", f"version: 1\n{TARGET}output: {{formats: [{CURSOR}]}}\n{STAGE}", ["json", "csv", "junit", "markdown"], []),
    (
        "kinds of load",
        f"version: 1\n{TARGET}stages:\n  - id: a\n    load:\n      {CURSOR}\n",
        ["concurrency", "rate", "arrivals", "max_in_flight", ("open loop", "rate: ${1:100/s}\narrivals: ${2|poisson,constant|}"), "search"],
        ["live"],
    ),
    (
        "stages",
        f"version: 1\n{TARGET}stages:\n  - {CURSOR}\n",
        ["id", "load", "assert", "stage, closed loop", "stage, open loop", "stages in parallel"],
        ["vus"],
    ),
    (
        "assertions",
        f"version: 1\n{TARGET}stages:\n  - id: a\n    assert:\n      - {CURSOR}\n",
        [("latency", "latency.p99 < ${1:50ms}"), ("errors", "errors.ratio <= ${1:0.1%}"), "that", "severity"],
        [],
    ),
    ("words in a profile", f"version: 1\n{TARGET}profiles:\n  ci:\n    target:\n      backend: {CURSOR}\n{STAGE}", ["kserve", "openai"], ["builtin"]),
    ("stages over defaults", f"version: 1\n{TARGET}defaults: {{warmup: 1s}}\nstages:\n  - id: a\n    on_fail: {CURSOR}\n", ["stop", "continue"], []),
    ("stages over another plan", f"version: 1\nextends: base.yaml\nstages:\n  - id: a\n    until: {CURSOR}\n", ["stable", "others"], []),
    (
        "a profile's keys",
        f"version: 1\n{TARGET}profiles:\n  ci:\n    {CURSOR}\n{STAGE}",
        ["vars", "target", "stages", "output"],
        ["version", "extends"],
    ),
    ("defaults of variables", f"version: 1\n{TARGET}{CURSOR}\n{STAGE}", [("vars", "vars:\n  ${1:url}:\n    default: ")], []),
]

# Hover: name, text, what is shown, what is not.
TYPE = "whole number"
HOVERS = [
    ("concurrency", f"version: 1\n{TARGET}stages:\n  - id: a\n    load:\n      conc{CURSOR}urrency: 4\n", "requests in flight", TYPE),
    ("concurrency, its value", f"version: 1\n{TARGET}stages:\n  - id: a\n    load:\n      concurrency: {CURSOR}16\n", "requests in flight", TYPE),
    ("rate", f"version: 1\n{TARGET}stages:\n  - id: a\n    load:\n      ra{CURSOR}te: 4/s\n", "requests due", "A number for each"),
    ("rate of a profile", f"version: 1\n{TARGET}profiles: {{p: {{stages: {{a: {{load: {{ra{CURSOR}te: 4/s}}}}}}}}}}\n{STAGE}", "requests due", "A number for each"),
    ("arrivals", f"version: 1\n{TARGET}stages:\n  - id: a\n    load:\n      rate: 4/s\n      arr{CURSOR}ivals: poisson\n", "gaps of a rate", TYPE),
    ("batch", f"version: 1\n{TARGET}stages:\n  - id: a\n    ba{CURSOR}tch: 8\n    load: {{concurrency: 1}}\n", "Rows in each request", TYPE),
    ("max_in_flight", f"version: 1\n{TARGET}stages:\n  - id: a\n    load:\n      rate: 4/s\n      max_{CURSOR}in_flight: 8\n", "most requests in flight", TYPE),
    ("baseline", f"version: 1\n{TARGET}base{CURSOR}line: main.json\n{STAGE}", "stored result", "A path"),
    ("for", f"version: 1\n{TARGET}stages:\n  - id: a\n    load: {{concurrency: 1}}\n    f{CURSOR}or: 5s\n", "How long is measured", "A duration"),
    ("backend", f"version: 1\ntarget:\n  back{CURSOR}end: triton\n  url: http://localhost:8000\n{STAGE}", "kind of server", "variable, or an expression"),
    ("timeout over a base", f"version: 1\nextends: base.yaml\ntarget:\n  time{CURSOR}out: 5s\n", "For one request", "A time with its unit"),
    ("repeat over defaults", f"version: 1\n{TARGET}defaults: {{warmup: 1s}}\nstages:\n  - id: a\n    re{CURSOR}peat: 3\n", "How often", TYPE),
]


def main():
    sluice, server = sys.argv[1:]
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        schema = pathlib.Path(folder) / "sluice.schema.json"
        schema.write_bytes(subprocess.run([sluice, "schema", "plan"], check=True, stdout=subprocess.PIPE).stdout)
        with open(pathlib.Path(folder) / "log", "w+b") as log:
            client = lsp.Client(["node", server, "--stdio"], schema, log)
            valid = check_valid(client, sluice, failures)
            broken = check_broken(client, sluice, folder, failures)
            check_positions(client, failures)
            client.close()
    for failure in failures:
        print(failure, file=sys.stderr)
    print(f"{valid} plans without a diagnostic, {broken} with one, {len(OFFERS)} completions, {len(HOVERS)} hovers: {len(failures)} failures")
    sys.exit(1 if failures else 0)


def check_valid(client, sluice, failures):
    """No diagnostic on a plan that the program takes."""
    checked = []
    for folder in ("plans", "testdata/plans", "testdata/plans/valid"):
        for plan in sorted(pathlib.Path(folder).glob("*.yaml")):
            if subprocess.run([sluice, "validate", plan], capture_output=True, check=False).returncode == 0:
                uri = plan.resolve().as_uri()
                client.open(uri, plan.read_text(encoding="utf-8"))
                checked.append((plan, uri))
    for purpose in ("start", "smoke", "gate", "capacity", "soak", "sequence"):
        text = subprocess.run([sluice, "init", "--for", purpose], check=True, stdout=subprocess.PIPE, text=True).stdout
        uri = f"file:///init/{purpose}.yaml"
        client.open(uri, text)
        checked.append((purpose, uri))
    if len(checked) < 60:
        failures.append(f"only {len(checked)} plans were found that are valid")
    for plan, uri in checked:
        for d in client.diagnostics(uri):
            failures.append(f"{plan}:{d['range']['start']['line'] + 1}: {d['message']}")
    return len(checked)


def check_broken(client, sluice, folder, failures):
    """One diagnostic on each broken plan, at the line with the mark, and the program refuses each."""
    sections = re.split(r"^-- (.*) --\n", (pathlib.Path(__file__).parent / "broken.txt").read_text(encoding="utf-8"), flags=re.M)
    cases = list(zip(sections[1::2], sections[2::2]))
    if len(cases) < 40:
        failures.append(f"only {len(cases)} broken plans")
    opened = []
    for n, (message, text) in enumerate(cases):
        text = text.replace("TARGET\n", TARGET).replace("STAGE\n", STAGE)
        plan = pathlib.Path(folder) / f"broken{n}.yaml"
        plan.write_text(text, encoding="utf-8")
        (pathlib.Path(folder) / "base.yaml").write_text("version: 1\n" + TARGET + STAGE, encoding="utf-8")
        code = subprocess.run([sluice, "validate", plan], capture_output=True, check=False).returncode
        if code != 2:
            failures.append(f"{message}: sluice validate ends with {code}\n{text}")
        client.open(plan.as_uri(), text)
        opened.append((plan.as_uri(), message, text))
    for uri, message, text in opened:
        found = client.diagnostics(uri)
        marked = next((i for i, line in enumerate(text.splitlines()) if line.endswith("#!")), 0)
        lines = [d["range"]["start"]["line"] for d in found]
        if len(found) != 1 or message not in found[0]["message"] or lines != [marked]:
            shown = "; ".join(f"line {d['range']['start']['line'] + 1}: {d['message']}" for d in found)
            failures.append(f"wanted on line {marked + 1}: {message}\ngot {shown or 'nothing'}\n{text}")
    return len(opened)


def check_positions(client, failures):
    for n, (name, marked, wanted, unwanted) in enumerate(OFFERS):
        text, offset = marked.replace(CURSOR, ""), marked.index(CURSOR)
        uri = f"file:///offers/{n}.yaml"
        client.open(uri, text)
        offered = client.completion(uri, text, offset)
        for want in wanted:
            label, inserted = want if isinstance(want, tuple) else (want, "")
            if label not in offered or not offered[label].startswith(inserted):
                failures.append(f"completion, {name}: no {want}, only {offered}")
        for label in unwanted:
            if label in offered:
                failures.append(f"completion, {name}: {label} is offered")
    for n, (name, marked, wanted, unwanted) in enumerate(HOVERS):
        text, offset = marked.replace(CURSOR, ""), marked.index(CURSOR)
        uri = f"file:///hovers/{n}.yaml"
        client.open(uri, text)
        shown = client.hover(uri, text, offset)
        if wanted not in shown or unwanted in shown:
            failures.append(f"hover, {name}: {shown}")


if __name__ == "__main__":
    main()
