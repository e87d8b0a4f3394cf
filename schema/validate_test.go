package schema

import (
	"flag"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/sluice-bench/sluice/scenario/source"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func parse(t *testing.T, name, text string) *source.Node {
	t.Helper()
	root, found := source.Parse(name, []byte(text))
	if found.HasErrors() {
		t.Fatalf("%s: %v", name, found)
	}
	return root
}

func plans(t *testing.T, pattern string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %v, %v", pattern, files, err)
	}
	texts := map[string]string{}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		texts[f] = string(data)
	}
	return texts
}

func TestValidPlans(t *testing.T) {
	for name, text := range plans(t, "testdata/valid/*.yaml") {
		if ds := Check(parse(t, name, text)); len(ds) > 0 {
			t.Errorf("%s: %v", name, ds)
		}
	}
}

// expected reads the codes that comments "#! CODES" announce, by line.
func expected(text string) []string {
	var want []string
	for i, line := range strings.Split(text, "\n") {
		_, codes, _ := strings.Cut(line, " #! ")
		sorted := strings.Fields(codes)
		slices.Sort(sorted)
		for _, code := range sorted {
			want = append(want, fmt.Sprintf("%d %s", i+1, code))
		}
	}
	return want
}

func TestInvalidPlans(t *testing.T) {
	for name, text := range plans(t, "testdata/invalid/*.yaml") {
		t.Run(filepath.Base(name), func(t *testing.T) {
			if strings.HasPrefix(text, "# A comment #!") {
				text = "#" + text[strings.Index(text, "\n"):]
			}
			ds := Check(parse(t, name, text))
			byLine := map[int][]string{}
			for _, d := range ds {
				byLine[d.Pos.Line] = append(byLine[d.Pos.Line], d.Code)
				if d.Severity != source.Error || d.Summary == "" || d.Path == "" {
					t.Errorf("incomplete: %+v", d)
				}
			}
			var got []string
			for line := range strings.Count(text, "\n") + 1 {
				slices.Sort(byLine[line])
				for _, code := range byLine[line] {
					got = append(got, fmt.Sprintf("%d %s", line, code))
				}
			}
			if diff := cmp.Diff(expected(text), got); diff != "" {
				t.Errorf("codes by line (-want +got):\n%s", diff)
			}
			golden(t, strings.TrimSuffix(name, ".yaml")+".txt", ds, name, text)
		})
	}
}

func golden(t *testing.T, file string, ds source.Diagnostics, name, text string) {
	t.Helper()
	var b strings.Builder
	if err := source.Render(&b, ds, func(string) []byte { return []byte(text) }, source.Look{}); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

// The copy that plans are checked with must say what the schema of the language says.
func TestPrunedSchemaSaysTheSame(t *testing.T) {
	whole := sync.OnceValues(func() (*jsonschema.Schema, error) { return compile(planURL, languageText) })
	texts := plans(t, "testdata/*/*.yaml")
	for name, text := range texts {
		root := parse(t, name, text)
		leaves, err := check(whole, root.JSON())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(reported(root, leaves), Check(root)); diff != "" {
			t.Errorf("%s (-whole +pruned):\n%s", name, diff)
		}
	}
}

// TestPublishedSchema: editors accept what the program accepts. A plan that
// extends another is accepted although it is not whole.
func TestPublishedSchema(t *testing.T) {
	published, err := compile(planURL, planText)
	if err != nil {
		t.Fatal(err)
	}
	texts := plans(t, "testdata/*/*.yaml")
	maps.Copy(texts, plans(t, "../plans/*.yaml"))
	accepted := 0
	for name, text := range texts {
		root := parse(t, name, text)
		wrong := Check(root)
		err := published.Validate(root.JSON())
		if refused := len(wrong) > 0 && root.Get("extends") == nil; refused != (err != nil) {
			t.Errorf("%s: %d mistakes, and the published schema says %v", name, len(wrong), err)
		}
		if err == nil {
			accepted++
		}
	}
	if accepted < 30 {
		t.Errorf("only %d plans were accepted", accepted)
	}
}

// TestPublishedSchemaRefuses: the plans that the check of .ci/editor holds against a language
// server are refused by the schema as it stands, by any reader of JSON Schema.
func TestPublishedSchemaRefuses(t *testing.T) {
	published, err := compile(planURL, planText)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile("../.ci/editor/broken.txt")
	if err != nil {
		t.Fatal(err)
	}
	const target = "target: {backend: triton, url: http://localhost:8000, model: m}\n"
	const stage = "stages:\n  - id: a\n    load: {concurrency: 1}\n    for: 5s\n"
	if err := published.Validate(parse(t, "right", "version: 1\n"+target+stage).JSON()); err != nil {
		t.Errorf("a plan without mistakes is refused: %v", err)
	}
	broken := regexp.MustCompile(`(?m)^-- (.*) --\n`).Split(string(data), -1)[1:]
	for _, text := range broken {
		text = strings.NewReplacer("TARGET\n", target, "STAGE\n", stage).Replace(text)
		if err := published.Validate(parse(t, "broken", text).JSON()); err == nil {
			t.Errorf("accepted:\n%s", text)
		}
	}
	if len(broken) < 40 {
		t.Errorf("only %d plans", len(broken))
	}
}

func TestValidateIsStable(t *testing.T) {
	for name, text := range plans(t, "testdata/invalid/*.yaml") {
		root := parse(t, name, text)
		first := Check(root)
		for range 20 {
			if diff := cmp.Diff(first, Check(root)); diff != "" {
				t.Fatalf("%s: another run says other things:\n%s", name, diff)
			}
		}
	}
}

const head = "version: 1\ntarget: {backend: kserve, url: u}\nstages: [{id: a, load: {concurrency: 1}}]\n"

func TestPlaces(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{
			"keys that need escapes", head + "labels: {\"a/b~c d%é\": [1]}\n",
			`4:10+9 wrong-type /labels/a~1b~0c d%é`,
		},
		{"unknown key", head + "é: {}\nputput: 1\n", "4:1+1 unknown-key /é; 5:1+6 unknown-key /putput output"},
		{"missing in the root", "version: 1\n", "1:1+0 missing-key "},
		{
			"missing in a map", "version: 1\nstages: [{id: a, load: {concurrency: 1}}]\ntarget:\n  backend: kserve\n",
			"3:1+6 missing-key /target",
		},
		{"missing in an item", "version: 1\nstages:\n  - load: {rate: 1/s}\n", "3:5+0 missing-key /stages/0"},
		{"quoted value", head + "seed: \"x\"\n", "4:7+3 wrong-type /seed"},
		{"a list where a scalar stands", head + "seed:\n  - 1\n", "4:1+4 wrong-type /seed"},
		{"an item", head + "assert:\n  - []\n", "5:5+0 wrong-type /assert/0"},
		{"block scalar", head + "seed: |\n  x\n", "4:7+0 wrong-type /seed"},
		{
			"aliases repeat nothing", head + "labels: &l {a: [1]}\ndefaults: {labels: *l, headers: *l}\n",
			"4:13+1 wrong-type /labels/a",
		},
		{
			"wrong only where it is used", head + "labels: &l {a: 1}\ndefaults: *l\n",
			"5:11+0 unknown-key /defaults/a",
		},
		{
			"missing behind an alias",
			"version: 1\nvars: {x: {default: &t 5}}\nstages: [{id: a, load: {concurrency: 1}}]\ntarget: *t\n",
			"4:9+0 wrong-type /target",
		},
		{"root is a list", "[1]\n", "1:1+0 wrong-type "},
		{"root is text", "hello\n", "1:1+5 wrong-type "},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, d := range Check(parse(t, "p", test.text)) {
				if strings.HasPrefix(test.name, "missing in the root") && len(got) == 1 {
					break
				}
				got = append(got,
					strings.TrimSuffix(fmt.Sprintf("%d:%d+%d %s %s %s",
						d.Pos.Line, d.Pos.Column, d.Width, d.Code, d.Path, d.Nearest), " "))
			}
			if s := strings.Join(got, "; "); s != test.want {
				t.Errorf("got  %s\nwant %s", s, test.want)
			}
		})
	}
}

func TestAllowedAndNearest(t *testing.T) {
	ds := Check(parse(t, "p",
		head+"output: {formats: [jsn]}\ndefaults: {max_flight: 1, load: {max_inflight: 1, overflow: waiit}}\n"))
	want := map[string]string{
		"/output/formats/0": "json", "/defaults/load/max_inflight": "max_in_flight",
		"/defaults/load/overflow": "wait", "/defaults/max_flight": "",
	}
	for _, d := range ds {
		if d.Nearest != want[d.Path] {
			t.Errorf("%s: nearest %q, want %q", d.Path, d.Nearest, want[d.Path])
		}
		delete(want, d.Path)
		switch d.Path {
		case "/output/formats/0":
			if diff := cmp.Diff([]string{
				"json", "csv", "junit", "markdown", "perf_analyzer_csv", "profile_export", "genai_perf", "aiperf",
				"vllm_bench", "timeline_csv",
			}, d.Allowed); diff != "" {
				t.Error(diff)
			}
		case "/defaults/max_flight":
			if slices.Contains(d.Allowed, "id") || !slices.Contains(d.Allowed, "matrix") ||
				!slices.Contains(d.Allowed, "batch") {
				t.Errorf("allowed keys are those of the language: %v", d.Allowed)
			}
		}
	}
	if len(want) > 0 {
		t.Errorf("nothing was said about %v", want)
	}
}

func TestValidatorPanicsAreContained(t *testing.T) {
	leaves, err := check(planSchema, map[string]any{"version": 1, "seed": math.NaN()})
	if err == nil {
		t.Fatalf("a NaN gave %v", leaves)
	}
	if _, err := check(planSchema, map[string]any{"seed": []string{"not JSON"}}); err == nil {
		t.Fatal("what is no JSON was accepted")
	}
	if Check(nil) != nil {
		t.Error("nothing has mistakes")
	}
}

func TestEndlessMistakesAreCut(t *testing.T) {
	for name, text := range map[string]string{
		"values":       head + "labels: {" + entriesOf(10_000, "[]") + "}\n",
		"keys":         head + entriesOf(10_000, "x") + "\n",
		"items":        strings.TrimSuffix(head, "]\n") + strings.Repeat(", {id: a, repat: 1}", 10_000) + "]\n",
		"long strings": head + "description: [" + strings.Repeat("x", 1_000_000) + "]\n",
	} {
		ds := Check(parse(t, name, text))
		if len(ds) == 0 || len(ds) > maxFound+1 {
			t.Errorf("%s: %d mistakes", name, len(ds))
		}
		if err := source.Render(io.Discard, ds, func(string) []byte { return []byte(text) },
			source.Look{}); err != nil {
			t.Error(err)
		}
	}
}

// entriesOf is n keys with one value, in flow style or as lines.
func entriesOf(n int, value string) string {
	var b strings.Builder
	separator := ", "
	if value == "x" {
		separator = "\n"
	}
	for i := range n {
		fmt.Fprintf(&b, "k%d: %s%s", i, value, separator)
	}
	return strings.TrimSuffix(b.String(), separator)
}

func TestCodesAreExplained(t *testing.T) {
	known := map[string]bool{}
	for _, c := range source.Codes() {
		known[c.Name] = true
	}
	for name, text := range plans(t, "testdata/invalid/*.yaml") {
		for _, d := range Check(parse(t, name, text)) {
			if !known[d.Code] {
				t.Errorf("code %s is not explained", d.Code)
			}
		}
	}
}

func TestValidateResult(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "", "it is empty"},
		{"white space", " \n", "it is empty"},
		{"half a document", `{`, "its JSON is cut short"},
		{"no JSON", "schema: x", "invalid character"},
		{"a list", `[]`, "expected object, but got array"},
		{"an object", `{}`, "missing properties: 'schema', 'tool'"},
		{"a place in it", `{"schema": "other", "nodes": 3}`, "/nodes: expected array, but got number"},
	} {
		err := ValidateResult([]byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.HasPrefix(err.Error(), ": ") {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
}

func FuzzValidate(f *testing.F) {
	for _, pattern := range []string{"testdata/valid/*.yaml", "testdata/invalid/*.yaml"} {
		files, _ := filepath.Glob(pattern)
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			for line := range strings.SplitSeq(string(data), "\n") {
				f.Add([]byte(line))
			}
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		root, _ := source.Parse("p", data)
		for _, d := range Check(root) {
			if d.Pos.Line < 1 || d.Pos.Column < 1 || d.Code == "" || d.Summary == "" || d.Code == "not-checked" {
				t.Fatalf("%+v", d)
			}
			if d.Code != "unknown-key" && root.At(d.Path) == nil {
				t.Fatalf("the path of %+v leads nowhere", d)
			}
		}
	})
}
