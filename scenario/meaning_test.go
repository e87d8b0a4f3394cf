package scenario

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sluice-bench/sluice/scenario/source"
)

// mustParse reads a plan that has to be accepted.
func mustParse(t *testing.T, text string, o Overrides) *Plan {
	t.Helper()
	plan, ds := Parse("plan.yaml", []byte(text), o)
	if plan == nil {
		t.Fatalf("refused:\n%v\n%s", ds, text)
	}
	return plan
}

// plain is a plan with a variable in an expression, a secret in a header, and a variable in a parameter.
const plain = `version: 1
vars: {limit: 50ms, token: {secret: true, env: TOKEN, default: ""}, unmentioned: 1}
target: {backend: triton, url: "http://h:1", model: m, headers: {A: "Bearer ${token}", B: x}, parameters: {p: "${unmentioned}"}}
stages:
  - id: s
    load: {rate: 60/min}
    for: 60s
    assert: ["latency.p99 < ${limit}"]
`

// TestFingerprintIsTheMeaning changes the writing of a plan, then its meaning.
func TestFingerprintIsTheMeaning(t *testing.T) {
	want := mustParse(t, plain, Overrides{}).Fingerprint()
	change := func(from, to string) string {
		changed := strings.Replace(plain, from, to, 1)
		if changed == plain {
			t.Fatalf("nothing changed: %s", from)
		}
		return changed
	}
	same := map[string]string{
		"comment":   change("stages:", "# a comment\nstages: # another"),
		"key order": change(`headers: {A: "Bearer ${token}", B: x}`, `headers: {B: x, A: "Bearer ${token}"}`),
		"name": change("version: 1",
			"version: 1\nname: other\ndescription: words\nlabels: {a: b}\noutput: {formats: [junit]}"),
		"unit":          change("for: 60s", "for: 1m"),
		"rate":          change("rate: 60/min", "rate: 1/s"),
		"default given": change("for: 60s", "for: 60s\n    warmup: 0s\n    batch: 1\n    when: success"),
		"long form":     change("target: {", "targets: {main: {") + "",
		"defaults":      change("    for: 60s\n", "") + "defaults: {for: 60s}\n",
		"data given":    plain + "data: {generate: random}\n",
		"variable unit": change("limit: 50ms", "limit: 0.05s"),
		"spaces":        change("latency.p99 < ${limit}", "latency.p99  <  ${limit}"),
		"that":          change(`["latency.p99 < ${limit}"]`, `[{that: "latency.p99 < ${limit}"}]`),
		"slo": change(`["latency.p99 < ${limit}"]`,
			`[{slo: x}]`) + "slos: {x: [\"latency.p99 < ${limit}\"]}\n",
	}
	same["long form"] = strings.Replace(same["long form"], `p: "${unmentioned}"}}`, `p: "${unmentioned}"}}}`, 1)
	for what, text := range same {
		if got := mustParse(t, text, Overrides{}).Fingerprint(); got != want {
			t.Errorf("%s changed the fingerprint", what)
		}
	}
	secret := Overrides{Env: func(string) (string, bool) { return "hunter2", true }}
	if got := mustParse(t, plain, secret).Fingerprint(); got != want {
		t.Error("a secret changed the fingerprint")
	}
	other := map[string]string{
		"seed":      change("version: 1", "version: 1\nseed: 1"),
		"for":       change("for: 60s", "for: 61s"),
		"limit":     change("limit: 50ms", "limit: 51ms"),
		"header":    change("B: x", "B: y"),
		"parameter": change("unmentioned: 1", "unmentioned: 2"),
		"assertion": change("latency.p99", "latency.p98"),
		"severity":  change(`["latency.p99 < ${limit}"]`, `[{that: "latency.p99 < ${limit}", severity: warn}]`),
		"id":        change("id: s", "id: t"),
	}
	for what, text := range other {
		if got := mustParse(t, text, Overrides{}).Fingerprint(); got == want {
			t.Errorf("%s did not change the fingerprint", what)
		}
	}
	if got := mustParse(t, plain, Overrides{Vars: []string{"limit=51ms"}}).Fingerprint(); got == want {
		t.Error("--var did not change the fingerprint")
	}
}

// TestSecretsStayInside looks for the value of a secret in everything that can be printed.
func TestSecretsStayInside(t *testing.T) {
	const value = "hunter2hunter2"
	plan := mustParse(t, plain, Overrides{Env: func(string) (string, bool) { return value, true }})
	if got := plan.Targets[0].Headers[0].Value; got != "Bearer "+value {
		t.Fatalf("the header is %q", got)
	}
	resolved, _ := json.Marshal(plan.Resolved())
	for what, text := range map[string]string{
		"resolved":  string(resolved),
		"variables": fmt.Sprintf("%+v %#v", plan.Vars, plan.Vars),
		"secrets": fmt.Sprintf("%+v %#v %s %v %q %x",
			plan.Secrets, plan.Secrets, plan.Secrets, plan.Secrets, plan.Secrets, plan.Secrets),
		"mask": plan.Mask("a " + value + " b " + value),
	} {
		if strings.Contains(text, value) || !strings.Contains(text, "***") {
			t.Errorf("%s: %s", what, text)
		}
	}
	request := plan.Stages[0].Entries()[0].Request
	request.Headers = plan.Targets[0].Headers
	for what, v := range map[string]any{
		"plan": plan, "plan by value": *plan, "target": plan.Targets[0], "target by value": *plan.Targets[0],
		"targets": plan.Targets,
		"stage":   plan.Stages[0], "stage by value": *plan.Stages[0], "request": request,
		"entries": []Entry{{Name: "e", Request: request}},
	} {
		data, err := json.Marshal(v)
		text := fmt.Sprintf("%v %+v %#v %s %x %d ", v, v, v, v, v, v) + string(data)
		if err != nil || leaks(text, value) || !strings.Contains(text, `"`) {
			t.Errorf("%s: %s, %v", what, text, err)
		}
	}
}

func TestMaskTakesTheLongestFirst(t *testing.T) {
	secrets := []Secret{NewSecret("pass"), NewSecret("password"), NewSecret("")}
	if got := maskAll("password pass", secrets); got != "*** ***" {
		t.Errorf("got %q", got)
	}
}

// TestVariablePrecedence: default < --set < environment < --var, and where each value came from.
func TestVariablePrecedence(t *testing.T) {
	const text = "version: 1\nvars: {n: {default: 1, env: N}}\ntarget: {backend: triton, url: " +
		"\"http://h:1\", model: m}\n" +
		"stages:\n  - {id: s, load: {concurrency: \"${n}\"}, for: 1s}\n"
	env := func(name string) (string, bool) { return "3", name == "N" }
	tests := []struct {
		o    Overrides
		want string
	}{
		{Overrides{}, "1 default"},
		{Overrides{Sets: []string{"vars.n=2"}}, "2 --set"},
		{Overrides{Sets: []string{"vars.n=2"}, Env: env}, "3 env N"},
		{Overrides{Sets: []string{"vars.n=2"}, Env: env, Vars: []string{"n=4"}}, "4 --var"},
		{Overrides{Vars: []string{"n=4", "n=5"}}, "5 --var"},
	}
	for _, tt := range tests {
		plan := mustParse(t, text, tt.o)
		v := plan.Vars[0]
		if got := v.Text + " " + v.From; got != tt.want {
			t.Errorf("%+v: %s, want %s", tt.o, got, tt.want)
		}
		if got := plan.Stages[0].Load.(Concurrency).Level.(Fixed).Value.Text; got != v.Text {
			t.Errorf("concurrency is %s with %s", got, v.Text)
		}
	}
}

// TestValuesCannotInject: what a variable holds is one scalar, whatever its characters; nothing in
// it is replaced again. (The header with the empty secret is left out, so this one is the first.)
func TestValuesCannotInject(t *testing.T) {
	text := strings.Replace(plain, "B: x", `B: "<${text}>"`, 1)
	text = strings.Replace(text, "vars: {", `vars: {text: "", `, 1)
	for _, value := range []string{
		"a: b", "${limit}", "$D${", "{a: 1}", "- x", "#c", "null", "", "é'\"", "!x", "*a",
	} {
		plan := mustParse(t, text, Overrides{Vars: []string{"text=" + value}})
		if got := plan.Targets[0].Headers[0].Value; got != "<"+value+">" {
			t.Errorf("%q became %q", value, got)
		}
	}
}

// TestNumbersStayAsWritten: no integer turns into 1.048576e+06 on its way to the resolved plan.
func TestNumbersStayAsWritten(t *testing.T) {
	plan := mustParse(t,
		strings.Replace(plain, "B: x}", `B: "1"}, model_version: 1000000`, 1)+"seed: 9007199254740993\n",
		Overrides{})
	resolved, _ := json.Marshal(plan.Resolved())
	for _, want := range []string{`"seed":9007199254740993`, `"model_version":"1000000"`} {
		if !strings.Contains(string(resolved), want) {
			t.Errorf("no %s in %s", want, resolved)
		}
	}
	if plan.Seed != 9007199254740993 {
		t.Errorf("seed is %d", plan.Seed)
	}
}

// TestNameComesFromTheFile covers file names that are no names of a plan.
func TestNameComesFromTheFile(t *testing.T) {
	for file, want := range map[string]string{
		"bench/plan.yaml": "plan", "My Plan.yml": "my-plan", "-x.yaml": "x", ".yaml": "plan", "a.b.yaml": "a.b",
		"é.yaml": "plan",
	} {
		plan, ds := Parse(file, []byte(plain), Overrides{})
		if plan == nil {
			t.Fatal(ds)
		}
		if plan.Name != want {
			t.Errorf("%s: %q, want %q", file, plan.Name, want)
		}
	}
}

// TestLoadFile reads from a folder that paths are relative to, and says so when there is no file.
func TestLoadFile(t *testing.T) {
	plan, ds := LoadFile("../testdata/plans/valid/data.yaml", Overrides{})
	if plan == nil {
		t.Fatal(ds)
	}
	if diff := cmp.Diff("../testdata/plans/valid", plan.Dir); diff != "" {
		t.Error(diff)
	}
	plan, ds = LoadFile("no-such-plan.yaml", Overrides{})
	if plan != nil || len(ds) != 1 || ds[0].Code != source.CodeFile ||
		strings.Count(ds[0].Summary, "no-such-plan") != 1 {
		t.Errorf("got %v", ds)
	}
	if _, ds = LoadFile("../testdata", Overrides{}); !ds.HasErrors() {
		t.Error("a folder was read as a plan")
	}
}
