package convert_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-bench/sluice/scenario/convert"
	"github.com/sluice-bench/sluice/scenario/convert/shell"
	"github.com/sluice-bench/sluice/scenario/source"
)

// What starts the program is left out; a value that is called like the program is a value.
func TestProgramName(t *testing.T) {
	for args, want := range map[string]string{
		"-m m":                                  "perf_analyzer -m m",
		"perf_client -m m":                      "perf_analyzer -m m",
		"docker run -it sdk perf_analyzer -m m": "perf_analyzer -m m",
		"-b 2 -m perf_analyzer":                 "perf_analyzer -b 2 -m perf_analyzer",
	} {
		out, diags := convert.PerfAnalyzer(convert.Options{Args: strings.Fields(args)})
		if diags.HasErrors() || out.Line != want {
			t.Errorf("%s is read as %q %v", args, out.Line, diags)
		}
	}
}

// Paths in a plan are relative to its folder, wherever that is and however it is written.
func TestPathsFollowThePlan(t *testing.T) {
	write(t)
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	other := t.TempDir()
	if err := os.MkdirAll(filepath.Join(other, "far", "deep"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(other, "far", "deep"), "near"); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"", ".", "plans/deep", "..", "../other", filepath.Join(here, "plans"), other, "near"} {
		for _, file := range []string{"inputs.json", "./tensors/../inputs.json", filepath.Join(here, "inputs.json")} {
			if dir == "../other" || strings.HasPrefix(dir, "plans") {
				if err := os.MkdirAll(dir, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			out, diags := convert.PerfAnalyzer(convert.Options{Args: []string{"-m", "m", "--input-data", file}, Dir: dir})
			found := regexp.MustCompile(`file: "?([^",]*)"?,`).FindStringSubmatch(out.Plan)
			if diags.HasErrors() || found == nil {
				t.Fatalf("%q: %v\n%s", dir, diags, out.Plan)
			}
			path := found[1]
			if !filepath.IsAbs(path) {
				path = dir + "/" + path // Join would take .. away before the system can follow a link
				if dir == "" {
					path = found[1]
				}
			}
			if _, err := os.Stat(path); err != nil {
				t.Errorf("a plan in %q names %s %q: %v", dir, file, found[1], err)
			}
		}
	}
}

// A mistake points to its argument in the line.
func TestPositions(t *testing.T) {
	out, diags := convert.PerfAnalyzer(convert.Options{Args: []string{"-m", "a b", "--percentile", "ü"}})
	if len(diags) != 1 {
		t.Fatal(diags)
	}
	d := diags[0]
	if got := string([]rune(out.Line)[d.Pos.Column-1 : d.Pos.Column-1+d.Width]); got != "'ü'" {
		t.Errorf("%q is marked in %q", got, out.Line)
	}
}

// A variable that no shell has expanded is kept, also where plans have variables of their own. The
// plan and a warning name it.
func TestShellVariables(t *testing.T) {
	out, diags := convert.PerfAnalyzer(convert.Options{Args: []string{"-m", "$MODEL", "-u", "${HOST:-h}:8000", "-H", "Price: 5 $", "--request-parameter", "p:a$${1:string", "-i", "grpc"}})
	var got []string
	for _, d := range diags {
		got = append(got, d.Code+" "+d.Summary+" "+string([]rune(out.Line)[d.Pos.Column-1:d.Pos.Column-1+d.Width]))
	}
	want := []string{"shell-variable -m: no shell has expanded $MODEL '$MODEL'", "shell-variable -u: no shell has expanded ${HOST:-h} '${HOST:-h}:8000'"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, line := range []string{
		"# As it stands: -m: $MODEL; for a value from outside: vars: {model: {env: MODEL}}, and ${model} in its place\n",
		"# As it stands: -u: ${HOST:-h}; for a value from outside: vars: {host: {env: HOST}}, and ${host} in its place\n",
		"  model: \"$MODEL\" ", "  url: \"grpc://$${HOST:-h}:8000\" ", "Price: \"5 $\"", "p: \"a$$${1\"",
	} {
		if !strings.Contains(out.Plan, line) {
			t.Errorf("the plan lacks %q:\n%s", line, out.Plan)
		}
	}
}

// Whatever the line is, it is answered with a plan, or with mistakes.
func FuzzPerfAnalyzer(f *testing.F) {
	for _, seed := range []string{"", "-m m", "-m m --shape a:1,2 -l 5 --concurrency-range 1:0", "--", "-m m --s=\x00", "-m 'a\nb' -H x:\u2028", "-m m -u ://"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		args, err := shell.Split(text)
		if err != nil {
			return
		}
		out, diags := convert.PerfAnalyzer(convert.Options{Args: args})
		if (out.Plan == "") != (diags.HasErrors() || out.Usage || out.Version) {
			t.Fatalf("plan %q, diagnostics %v", out.Plan, diags)
		}
		if _, bad := source.Parse("plan.yaml", []byte(out.Plan)); out.Plan != "" && bad.HasErrors() {
			t.Fatalf("no YAML: %v\n%s", bad, out.Plan)
		}
	})
}
