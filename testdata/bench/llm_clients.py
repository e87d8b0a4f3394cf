"""The programs that llm.py runs: the reference server, Sluice, and the other clients, each with what it used."""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import urllib.request

PROMPT = "Why is the sky blue and the sea too"
TOKENS = 64
ROWS = f'{{rows: [{{prompt: "{PROMPT}", output_tokens: {TOKENS}}}]}}'
PROMPTS = f"{{prompts: {{count: 100, input_tokens: 32, output_tokens: {TOKENS}}}}}"
PLAN = """version: 1
target: {{backend: openai, url: "http://{http}", model: M, streaming: true, probe: false{tokenizer}}}
data: {data}
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
        self.paces = ttft, gap, tokens, whole
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
        self.generate = False  # make a hundred prompts, in place of sending one from a file

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
        data, more = ROWS, ""
        if self.generate:
            data, more = PROMPTS, f", tokenizer: {self.tokenizer()}/tokenizer.json"
        text = PLAN.format(http=self.server.http, data=data, tokenizer=more, load=load, length=length, samples=samples)
        with open(plan, "w") as f:
            f.write(text)
        cost = Cost(self.server, [self.a.sluice, "run", plan, "--out", out], (0, 5), watch)  # 5: a busy machine
        with open(os.path.join(out, "result.json")) as f:
            return json.load(f)["nodes"][0], cost, out

    def genai_perf(self, concurrency, requests, watch=False):
        return self.nvidia(self.a.genai_perf, [], "profile_export_genai_perf.json", concurrency, requests, watch)

    def aiperf(self, concurrency, requests, watch=False):
        options = ["--ui", "none", "--no-gpu-telemetry", "--no-server-metrics"]
        if not self.generate:
            options += ["--custom-dataset-type", "single_turn"]
        return self.nvidia(self.a.aiperf, options, "profile_export_aiperf.json", concurrency, requests, watch)

    def nvidia(self, program, options, file, concurrency, requests, watch):
        folder = self.folder()
        command = [program, "profile", "-m", "M", "--endpoint-type", "chat", "--streaming", "--random-seed", "1"]
        command += ["-u", f"http://{self.server.http}", "--tokenizer", self.tokenizer(), "--artifact-dir", folder]
        command += ["--request-count", str(requests), "--concurrency", str(concurrency)]
        if self.generate:
            command += ["--num-dataset-entries", "100", "--output-tokens-mean", str(TOKENS)]
            command += ["--synthetic-input-tokens-mean", "32", "--synthetic-input-tokens-stddev", "0"]
        else:
            prompts = os.path.join(folder, "prompts.jsonl")
            with open(prompts, "w") as f:
                f.write(json.dumps({"text": PROMPT}) + "\n")
            command += ["--input-file", prompts]
        for _ in range(3):  # GenAI-Perf fails at times, where a read ended within an event
            self.server.pace(*self.server.paces)
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

    def tokenizer(self):
        """The folder of a tokenizer: bytes, and " copy" of the streams, are its tokens. All but vLLM's need one."""
        folder = os.path.join(self.work, "tokenizer")
        if os.path.exists(folder):
            return folder
        os.mkdir(folder)
        printable = [c for c in range(256) if 33 <= c <= 126 or 161 <= c <= 172 or 174 <= c]
        letters = [chr(c) for c in printable] + [chr(256 + i) for i in range(256 - len(printable))]
        space = chr(256 + 32)  # the letter of a byte that cannot be printed
        words = letters + ["co", "cop", "copy", space + "copy", "<unk>"]
        merges = ["c o", "co p", "cop y", space + " copy"]
        model = {"type": "BPE", "vocab": {word: i for i, word in enumerate(words)}, "merges": merges}
        special = {"id": len(words) - 1, "content": "<unk>", "special": True, "single_word": False}
        special.update(lstrip=False, rstrip=False, normalized=False)
        level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
        whole = {"version": "1.0", "added_tokens": [special], "model": model, "pre_tokenizer": level, "decoder": level}
        whole.update(dict.fromkeys(["truncation", "padding", "normalizer", "post_processor"]))
        kind = {"tokenizer_class": "PreTrainedTokenizerFast", "unk_token": "<unk>", "model_max_length": 4096}
        for name, content in (("tokenizer.json", whole), ("tokenizer_config.json", kind)):
            with open(os.path.join(folder, name), "w") as f:
                json.dump(content, f)
        return folder
