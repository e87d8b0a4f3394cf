package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/executor/artifact"
	"github.com/sluice-bench/sluice/scenario"
)

const plansOfTests = "../../plans/"

// completed returns what the shell's script gets for a command line, whose last word is being typed.
func completed(t *testing.T, args ...string) []string {
	t.Helper()
	out := sluiceIn(t, ".", 0, append([]string{"__complete"}, args...)...)
	var offers []string
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, ":") {
			return offers
		}
		offer, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		offers = append(offers, offer)
	}
	t.Fatalf("%v: no directive in %q", args, out)
	return nil
}

// TestCompletionOffersWords: flags that take a word offer all of them, from where the words are defined.
func TestCompletionOffersWords(t *testing.T) {
	environments, quickstart := plansOfTests+"environments.yaml", plansOfTests+"quickstart.yaml"
	broken := filepath.Join(t.TempDir(), "broken.yaml")
	if err := os.WriteFile(broken,
		[]byte("vars: {a: {env: NOWHERE}}\nstages: [{id: x}, {parallel: [{id: y}, {id: z}]}]\nprofiles: {p: {}}\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args string // with a blank at the end: the word is empty
		want []string
	}{
		{"run " + quickstart + " --format ", artifact.Formats()},
		{
			"run " + quickstart + " --format json,c",
			[]string{
				"json,profile_export", "json,genai_perf", "json,aiperf", "json,vllm_bench", "json,csv",
				"json,timeline_csv",
				"json,perf_analyzer_csv", "json,junit", "json,markdown",
			},
		},
		{"run " + quickstart + " --only steady,", []string{"steady,sweep"}},
		{"run " + quickstart + " --summary ", summaries},
		{"run " + quickstart + " --only ", scenario.OutlineOf(quickstart).Stages},
		{"graph " + quickstart + " --only ", []string{"sweep", "steady"}},
		{"graph " + quickstart + " --format ", []string{"text", "mermaid", "dot", "json"}},
		{"run " + environments + " --var ", []string{"url=", "token=", "limit="}},
		{"run " + environments + " --var url=", nil},
		{"run " + environments + " --profile ", scenario.OutlineOf(environments).Profiles},
		{
			"run " + environments + " --set stages.steady.load.arrivals=",
			[]string{"stages.steady.load.arrivals=constant", "stages.steady.load.arrivals=poisson"},
		},
		{
			"run " + environments + " --set output.samples=",
			[]string{"output.samples=none", "output.samples=csv", "output.samples=jsonl"},
		},
		{"init --for ", purposeNames()},
		{"init --backend ", kindsByURL()},
		{"init --backend kserve --url ", []string{
			"builtin://http", "builtin://grpc", "http://",
			"https://", "http+unix://", "grpc://", "grpcs://", "grpc+unix://",
		}},
		{"run " + broken + " --only ", []string{"x", "y", "z"}},
		{"run " + broken + " --var ", []string{"a="}},
		{"run " + broken + " --profile ", []string{"p"}},
		{"run " + broken + " --set ", nil},
		{"run nowhere.yaml --only ", nil},
		{"run --only ", nil},
	} {
		if got := completed(t, strings.Split(c.args, " ")...); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.args, got, c.want)
		}
	}
	keys := completed(t, "run", environments, "--set", "")
	for _, key := range []string{"stages.soak.for=", "target.url=", "stages.steady.load.arrivals="} {
		if !slices.Contains(keys, key) {
			t.Errorf("--set does not offer %s, only %q", key, keys)
		}
	}
	if explain := completed(t, "validate", environments, "--explain="); !slices.Contains(explain,
		"stages.soak.for") {
		t.Errorf("--explain offers %q", explain)
	}
}

// TestBashCompletionByItself: the script for bash completes without the bash-completion package,
// words with = and : among them.
func TestBashCompletionByItself(t *testing.T) {
	dir := t.TempDir()
	script := sluiceIn(t, dir, 0, "completion", "bash")
	for name, text := range map[string]string{
		"sluice.bash": script,
		// The words as readline splits them, at = and : too, and a command line that ends at the cursor.
		"ask.bash": `source sluice.bash
compopt() { :; }
COMP_LINE=$1 COMP_POINT=${#1} COMP_TYPE=9 COMP_WORDS=("${@:2}") COMP_CWORD=$(($# - 2))
__start_sluice
printf '%s\n' "${COMPREPLY[@]}"
`,
		"gate.yaml": "version: 1\nvars: {url: \"builtin://http\", limit: 10s}\ntarget: {backend: kserve, url: " +
			"\"${url}\", model: slow}\nstages: [{id: gate, load: {rate: 5/s, arrivals: poisson}, for: 1s, assert: " +
			"[\"latency.p50 < ${limit}\"]}]\n",
		"notes.txt": "", "results.json": "",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "plans"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		line, words, want string // words by |
	}{
		{"sluice ru", "sluice|ru", "run"},
		{"sluice run ", "sluice|run|", "gate.yaml plans"},
		{"sluice run g", "sluice|run|g", "gate.yaml"},
		{"sluice run gate.yaml --only ", "sluice|run|gate.yaml|--only|", "gate"},
		{"sluice run gate.yaml --out ", "sluice|run|gate.yaml|--out|", "plans"},
		{
			"sluice run gate.yaml --var-file ", "sluice|run|gate.yaml|--var-file|",
			"gate.yaml plans results.json",
		},
		{"sluice run gate.yaml --var ", "sluice|run|gate.yaml|--var|", "limit= url="},
		{"sluice run gate.yaml --var=l", "sluice|run|gate.yaml|--var|=|l", "limit="},
		{
			"sluice run gate.yaml --set stages.gate.load.arrivals=",
			"sluice|run|gate.yaml|--set|stages.gate.load.arrivals|=", "constant poisson",
		},
		{
			"sluice run gate.yaml --set stages.gate.load.arrivals=p",
			"sluice|run|gate.yaml|--set|stages.gate.load.arrivals|=|p", "poisson",
		},
		{
			"sluice run gate.yaml --set   stages.gate.fo", "sluice|run|gate.yaml|--set|stages.gate.fo",
			"stages.gate.for=",
		},
		{"sluice init --url grpc:", "sluice|init|--url|grpc|:", "//"},
		{"sluice init --backend=t", "sluice|init|--backend|=|t", "tfserving triton"},
	} {
		bash := exec.Command("bash", append([]string{"--norc", "--noprofile", "ask.bash", c.line},
			strings.Split(c.words, "|")...)...)
		bash.Dir = dir
		out, err := bash.CombinedOutput()
		got := strings.Fields(string(out))
		slices.Sort(got)
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, %q, want %s", c.line, err, out, c.want)
		}
	}
}
