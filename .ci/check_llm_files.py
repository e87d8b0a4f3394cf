#!/usr/bin/env python3
"""Reads the files of runs with AIPerf's models and GenAI-Perf's parser: check_llm_files.py FOLDER..."""
import json
import sys
from pathlib import Path

from aiperf.common.models import MetricRecordInfo
from aiperf.common.models.export_models import JsonExportData
from genai_perf.config.input.config_command import ConfigCommand
from genai_perf.profile_data_parser.llm_profile_data_parser import LLMProfileDataParser
from genai_perf.subcommand.process_export_files import ProcessExportFiles


def near(what, got, want, by=1e-6):
    if abs(got - want) > by * max(abs(want), 1e-9):
        sys.exit(f"{what}: {got}, want {want}")


def of_value(records, tag):
    return [r.metrics[tag].value for r in records if tag in r.metrics]


def check_aiperf(folder, prefix, node):
    """The records and the aggregate of a node are AIPerf's, and the aggregate is that of the records."""
    with open(folder / f"{prefix}profile_export.jsonl") as f:
        records = [MetricRecordInfo.model_validate_json(line) for line in f]
    whole = JsonExportData.model_validate_json((folder / f"{prefix}profile_export_aiperf.json").read_text())
    measured = [r for r in records if r.metadata.benchmark_phase == "profiling"]
    good = [r for r in measured if r.error is None]
    what = f"{folder.name} {node['id']}"
    near(f"{what}: requests", len(good), whole.request_count.avg)
    if len(measured) != node["metrics"]["requests.count"]["value"]:
        sys.exit(f"{what}: {len(measured)} records of {node['metrics']['requests.count']['value']} requests")
    for tag in ("time_to_first_token", "request_latency", "inter_token_latency", "output_sequence_length",
                "output_token_count", "reasoning_token_count"):
        values, stats = of_value(good, tag), getattr(whole, tag)
        if (stats is None) != (not values):
            sys.exit(f"{what}: {tag} is in the records {len(values)} times, and in the aggregate {stats}")
        if values:
            near(f"{what}: {tag}", sum(values) / len(values), stats.avg)
    if whole.total_output_tokens is not None:
        near(f"{what}: tokens", whole.total_output_tokens.avg + getattr(whole.total_reasoning_tokens, "avg", 0),
             whole.total_osl.avg)
    near(f"{what}: rate", whole.request_throughput.avg * whole.benchmark_duration.avg, len(good))
    # The time of the requests is that of the holds, less the wait for the first and after the last.
    if node["load"]["kind"] == "rate":
        near(f"{what}: rate beside the result", whole.request_throughput.avg, node["metrics"]["requests.rate"]["value"], 0.15)
    if node["metrics"].get("goodput"):
        near(f"{what}: goodput", whole.goodput.avg * whole.benchmark_duration.avg, whole.good_request_count.avg)
    if whole.was_cancelled or whole.input_config is None:
        sys.exit(f"{what}: was_cancelled {whole.was_cancelled}, input_config {whole.input_config}")


def check_config(folder, prefix):
    """GenAI-Perf reads the configuration of its own JSON."""
    p = ProcessExportFiles.__new__(ProcessExportFiles)
    p._config = ConfigCommand({"model_name": "m"}, skip_inferencing_and_checking=True)
    p._input_config = json.loads((folder / f"{prefix}profile_export_genai_perf.json").read_text())["input_config"]
    p._update_config_from_profile_data()
    return p._config.endpoint.service_kind


class Words:
    """A tokenizer for which words are tokens, as they are for the embedded server."""

    def encode(self, text):
        return text.split()

    def __call__(self, texts):
        return {"input_ids": [["!"] + text[1:].split() for text in texts]}


def check_parser(folder, nodes):
    """What GenAI-Perf makes of perf_analyzer's raw file is what the file in its own shape says."""
    parser = LLMProfileDataParser(folder / "profile_export.json", Words())
    seen = 0
    for prefix, node in nodes:
        ours = json.loads((folder / f"{prefix}profile_export_genai_perf.json").read_text())
        stimulus = ours["input_config"]["perf_analyzer"]["stimulus"]
        (mode, level), = stimulus.items()
        metrics = parser.get_statistics(mode, str(level)).metrics
        what = f"{folder.name} {node['id']}, GenAI-Perf"
        for tag, values in (("time_to_first_token", metrics.time_to_first_tokens),
                            ("request_latency", metrics.request_latencies),
                            ("inter_token_latency", metrics.inter_token_latencies)):
            if tag in ours and values:
                near(f"{what}: {tag}", sum(values) / len(values) / 1e6, ours[tag]["avg"], 1e-5)
        lengths = metrics.output_sequence_lengths
        near(f"{what}: output", sum(lengths) / len(lengths), ours["output_sequence_length"]["avg"])
        near(f"{what}: requests", metrics.request_throughputs[0], ours["request_throughput"]["avg"], 1e-5)
        seen += len(lengths)
        inputs = metrics.input_sequence_lengths
        if node["id"] in ("sessions", "users") and len(set(inputs)) < 2:
            sys.exit(f"{what}: no turn holds more than its own message: {inputs}")
    return seen


for name in sys.argv[1:]:
    folder = Path(name)
    nodes = json.loads((folder / "result.json").read_text())["nodes"]
    prefixes = [""] + [n["id"] + "." for n in nodes[1:]]
    kinds = set()
    for prefix, node in zip(prefixes, nodes):
        check_aiperf(folder, prefix, node)
        kinds.add(check_config(folder, prefix))
    print(f"{folder.name}: AIPerf reads {len(nodes)} nodes, GenAI-Perf their configurations ({', '.join(sorted(kinds))})")
    if folder.name != "chat":
        print(f"{folder.name}: GenAI-Perf's parser reads {check_parser(folder, list(zip(prefixes, nodes)))} requests")
