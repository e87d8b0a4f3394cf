package convert_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/scenario/convert/secret"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-bench/sluice/backends/all"
	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/convert"
	"github.com/sluice-bench/sluice/scenario/convert/shell"
	"github.com/sluice-bench/sluice/scenario/source"
)

var update = flag.Bool("update", false, "rewrite testdata/plans.txt")

// files are what the command lines of testdata/lines.txt name; all others hold one row.
var files = map[string]string{
	"intervals.txt": "10000\n20000\n5000\n",
	"schedule.json": `{"data": [{"INPUT0": [1], "timestamp": [0]}, {"INPUT0": [2], "timestamp": [100]}]}`,
	"seq.json":      `{"data": [[{"INPUT": [1]}, {"INPUT": [2]}], [{"INPUT": [3]}]]}`,
	"chat.json":     `{"data": [{"payload": [{"model": "m", "messages": [{"role": "user", "content": "hello"}], "stream": true}]}]}`,
	"sessions.json": `{"data": [{"session_id": ["a"], "payload": [{"messages": []}]}, {"session_id": ["b"], "payload": [{"messages": []}]}]}`,
	"messages.json": `{"data": [{"message_generator": "./frames --count 3"}]}`,
	"ca.crt":        "-", "client.crt": "-", "client.key": "-",
	"tensors/INPUT0": "1234", "tritonserver/lib/-": "", "models/-": "",
}

// write writes the files to the folder of the test.
func write(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	all := map[string]string{}
	for _, name := range strings.Fields("inputs.json input.json input_alt1.json dummy.json random.json first.json second.json online_input.json offline_input.json artifacts/inputs.json torch.json") {
		all[name] = `{"data": [{"INPUT0": [1]}]}`
	}
	for name, text := range files {
		all[name] = text
	}
	for name, text := range all {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// lines are those of testdata/lines.txt: our name, what is done with it, the command line.
func lines(t *testing.T) (list [][3]string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "lines.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for l := range strings.Lines(string(data)) {
		if strings.HasPrefix(l, "#") || strings.TrimSpace(l) == "" {
			continue
		}
		name, rest, _ := strings.Cut(strings.TrimSpace(l), " ")
		what, text, _ := strings.Cut(strings.TrimSpace(rest), " ")
		list = append(list, [3]string{name, what, strings.TrimSpace(text)})
	}
	if len(list) < 40 {
		t.Fatalf("%d command lines, want 40 or more", len(list))
	}
	return list
}

// Every command line becomes a plan that validate accepts, with the text that testdata/plans.txt holds.
func TestLines(t *testing.T) {
	golden := filepath.Join("testdata", "plans.txt")
	want, err := os.ReadFile(golden)
	if err != nil && !*update {
		t.Fatal(err)
	}
	golden, _ = filepath.Abs(golden)
	list := lines(t)
	write(t)
	var got strings.Builder
	for _, l := range list {
		t.Run(l[0], func(t *testing.T) {
			fmt.Fprintf(&got, "=== %s\n%s", l[0], planOf(t, l[2]))
		})
	}
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("testdata/plans.txt (-want +got):\n%s", diff)
	}
}

// planOf converts a command line and compiles its plan; the warnings of the conversion come first.
func planOf(t *testing.T, text string) string {
	t.Helper()
	args, err := shell.Split(text)
	if err != nil {
		t.Fatal(err)
	}
	out, diags := convert.PerfAnalyzer(convert.Options{Args: args})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	valid(t, out.Plan, out.Secrets...)
	var b strings.Builder
	for _, d := range diags {
		fmt.Fprintf(&b, "%s: %s\n", d.Severity, d.Summary)
	}
	return b.String() + out.Plan
}

// valid compiles a plan, as validate does. Certificates that are none are the one mistake of these
// plans.
func valid(t *testing.T, text string, secrets ...secret.Secret) {
	t.Helper()
	env := func(name string) (string, bool) {
		at := slices.IndexFunc(secrets, func(s secret.Secret) bool { return s.Env == name })
		return "a secret", at >= 0
	}
	plan, diags := scenario.Parse("plan.yaml", []byte(text), scenario.Overrides{Env: env})
	if plan != nil && !diags.HasErrors() {
		_, more := program.Compile(plan, all.Kinds())
		diags = append(diags, more...)
	}
	for _, d := range diags {
		if d.Severity == source.Error && (d.Code != "bad-target" || !strings.Contains(text, ".crt")) {
			t.Errorf("%s\n%s", d, d.Detail)
		}
		if d.Code == "no-effect" || d.Code == "key-not-read" {
			t.Errorf("%s", d)
		}
	}
	if t.Failed() {
		t.Logf("\n%s", text)
	}
}
