package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/backends/builtin"
	"github.com/sluice-bench/sluice/executor/verdict"
	"github.com/sluice-bench/sluice/scenario/convert"
)

// TestLLMLinesRun plays the command lines of scenario/convert/testdata/llm_lines.txt that fit the embedded server,
// with its address and model, few requests and short texts in the place of theirs. The files that the tool writes
// are in the folder that the line names.
func TestLLMLinesRun(t *testing.T) {
	server := startServer(t, builtin.Config{})
	ran := playLines(t, "llm_lines.txt", 5, func(t *testing.T, tool string, args []string) {
		playLLMLine(t, server, tool, args)
	})
	if ran < 25 {
		t.Errorf("%d command lines fit the embedded server, want 25 or more", ran)
	}
}

// playLLMLine runs a command line of a tool against server.
func playLLMLine(t *testing.T, server *builtin.Server, tool string, args []string) {
	t.Helper()
	dir := t.TempDir()
	writeLineFiles(t, dir)
	model := "chat"
	for _, kind := range []string{"rankings", "embeddings"} {
		if slices.Contains(args, kind) {
			model = kind
		}
	}
	if at := slices.Index(args, "genai-perf"); at > 0 {
		args = args[at:] // the options of docker are none of the program
	}
	url := server.HTTPURL()
	if slices.Contains(args, "tensorrtllm") {
		url, model = strings.TrimPrefix(server.GRPCURL(), "grpc://"), "tokens_decoupled"
	}
	args = with(args, url, "--base-url", "--url", "-u")
	args = with(args, model, "--model", "-m")
	for _, few := range [][]string{
		{"6", "--request-count", "--num-requests", "--num-prompts"},
		{"100", "--measurement-interval"},
		{"12", "--synthetic-input-tokens-mean", "--isl", "--random-input-len"},
		{"4", "--output-tokens-mean", "--osl", "--random-output-len", "--sharegpt-output-len"},
		{"artifacts", "--artifact-dir", "--output-artifact-dir"},
		{"2", "--concurrency", "--max-concurrency"},
		{"20", "--request-rate"},
		{"1", "--warmup-request-count"},
		{"20", "--session-turn-delay-mean"},
	} {
		if slices.ContainsFunc(few[1:], func(o string) bool { return slices.Contains(args, o) }) {
			args = with(args, few[0], few[1:]...)
		}
	}
	if slices.Contains(args, "--service-kind") && !slices.Contains(args, "--request-count") {
		args = with(args, "100", "--measurement-interval") // 10 s without one
	}
	if slices.Contains(args, "custom") {
		args = append(args, "--custom-output-len", "4")
	}
	out := sluiceIn(t, dir, -1, append([]string{"convert", tool, "--run", "--out", "results", "--"}, args...)...)
	if !strings.Contains(out, "Request Latency (ms)") && (model == "chat" || model == "tokens_decoupled") {
		t.Errorf("the report has no figures of the texts\n%s", out)
	}
	for _, one := range convert.Tools() {
		if one.Name != tool {
			continue
		}
		want, _ := one.Convert(convert.Options{Args: args})
		for _, f := range want.Files {
			name := f.Name
			if want.Dated {
				name = strings.TrimSuffix(name, ".json") + "-*.json"
			}
			found, _ := filepath.Glob(filepath.Join(dir, want.Folder, name))
			if len(found) != 1 {
				t.Fatalf("%s: %q\n%s", name, found, out)
			}
			if info, err := os.Stat(found[0]); err != nil || info.Size() == 0 {
				t.Errorf("%s: %v\n%s", f.Name, err, out)
			}
		}
	}
}

// with sets the value of the first of the options that args have, else of the first one that the tool has.
func with(args []string, value string, names ...string) []string {
	for _, name := range names {
		if at := slices.Index(args, name); at >= 0 && at+1 < len(args) {
			args = slices.Clone(args)
			args[at+1] = value
			return args
		}
	}
	name := "--url"
	vllm := func(a string) bool {
		return strings.Contains(a, "vllm") || strings.Contains(a, "benchmark_serving") || a == "serve"
	}
	if names[0] == "--base-url" && slices.ContainsFunc(args, vllm) {
		name = "--base-url"
	}
	if names[0] != "--base-url" {
		name = names[0]
	}
	end := slices.Index(args, "--")
	if end < 0 {
		end = len(args)
	}
	return slices.Insert(slices.Clone(args), end, name, value)
}

// TestConvertedFilesStay: --append-result adds a line to vLLM's file, and its usual names have the time, so that no run
// overwrites an earlier one; a run that measures nothing overwrites nothing.
func TestConvertedFilesStay(t *testing.T) {
	t.Parallel()
	server := startServer(t, builtin.Config{})
	dir := t.TempDir()
	writeLineFiles(t, dir)
	run := func(url string, code int, more ...string) string {
		return sluiceIn(t, dir, code, append([]string{
			"convert", "vllm-bench", "--run", "--out", "results", "--", "--backend", "openai-chat", "--base-url", url,
			"--endpoint", "/v1/chat/completions", "--model", "chat", "--dataset-name", "custom", "--dataset-path", "prompts.jsonl",
			"--num-prompts", "4", "--max-concurrency", "2", "--custom-output-len", "4", "--skip-tokenizer-init",
		}, more...)...)
	}
	appended := filepath.Join(dir, "all.jsonl")
	if err := os.WriteFile(appended, []byte(`{"model_id": "old", "completed": 3, "duration": 1.5, "request_goodput:": 1.5}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		run(server.HTTPURL(), -1, "--append-result", "--result-filename", "all.jsonl")
	}
	data, err := os.ReadFile(appended)
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Split(strings.TrimSpace(string(data)), "\n"); len(lines) != 3 || !strings.Contains(lines[0], `"old"`) {
		t.Errorf("%d lines: %s", len(lines), data)
	}
	table := sluiceIn(t, dir, 0, "compare", "all.jsonl")
	for _, want := range []string{"all.jsonl 1 ", "1.50"} {
		if !strings.Contains(table, want) {
			t.Errorf("the table of three runs has no %q\n%s", want, table)
		}
	}
	sluiceIn(t, dir, 0, "compare", "--config", "compare/config.yaml")
	for range 2 {
		run(server.HTTPURL(), -1, "--save-result", "--result-dir", "usual")
	}
	if files, _ := filepath.Glob(filepath.Join(dir, "usual", "openai-chat-infqps-concurrency2-chat-2*.json")); len(files) != 2 {
		t.Errorf("%q", files)
	}
	gone := server.HTTPURL()
	_ = server.Close()
	run(gone, verdict.CodeSetUp, "--save-result", "--result-filename", "all.jsonl")
	if now, err := os.ReadFile(appended); err != nil || string(now) != string(data) {
		t.Errorf("%s, refused by %s: %v\n%s", appended, gone, err, now)
	}
}
