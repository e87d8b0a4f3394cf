package scenario

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/scenario/source"
)

// TestFingerprintIgnoresTheWay writes one plan in many ways that mean the same.
func TestFingerprintIgnoresTheWay(t *testing.T) {
	const plain = "version: 1\nseed: 3\ntarget: {backend: kserve, url: \"http://h:1\", model: m, headers: " +
		"{A: x, B: y}}\ndata: {file: rows.json}\n" +
		"stages:\n  - {id: a, load: {rate: 60/min, arrivals: poisson}, for: 60s, warmup: 5s, assert: " +
		"[latency.p99 < 50ms, errors.ratio < 1%]}\n" +
		"  - {id: b, load: {concurrency: 4}, until: stable}\n"
	ways := map[string]map[string]string{
		"comments and blocks": {"plan.yaml": "# said twice\nstages:\n- load:\n    arrivals: 'poisson'\n    " +
			"rate: 1/s\n  for: 1m # one minute\n  warmup: 5000ms\n  id: a\n  assert:\n  - >-\n    latency.p99   < " +
			" 50ms\n  - that: errors.ratio < 1%\n" +
			"- id: b\n  until: {stable: {windows: 3}}\n  load: {concurrency: 4}\ndata: {file: " +
			"[rows.json]}\ntarget: {model: \"m\", headers: {B: y, A: x}, url: http://h:1, backend: kserve}\nseed: " +
			"3\nversion: 1\nname: other\nlabels: {a: b}\n"},
		"JSON": {"plan.yaml": `{"version":1,"seed":3,"target":{"backend":"kserve","url":"http://h:1",` +
			`"model":"m","headers":{"A":"x","B":"y"}},"data":{"file":"rows.json"},"stages":[{"id":"a",` +
			`"load":{"rate":"1/s","arrivals":"poisson"},"for":"60s","warmup":"5s","assert":["latency.p99 < ` +
			`50ms","errors.ratio < 1%"]},{"id":"b","load":{"concurrency":4},"until":"stable"}]}`},
		"variables": {"plan.yaml": "vars: {seed: 3, host: h, n: {default: 4, type: int}, span: 60s, file: " +
			"rows.json}\n" +
			strings.NewReplacer("seed: 3", "seed: \"${seed}\"", "//h:1", "//${host}:1", "concurrency: 4",
				"concurrency: \"${n}\"", "for: 60s", "for: \"${span}\"", "rows.json", "\"${file}\"").Replace(plain)},
		"a profile": {"plan.yaml": strings.NewReplacer("seed: 3",
			"seed: 9", "A: x", "A: z", "for: 60s", "until: stable").Replace(plain) +
			"profiles: {p: {seed: 3, target: {headers: {A: x}}, stages: {a: {for: 60s}}}}\n"},
		"defaults": {"plan.yaml": strings.Replace(strings.Replace(plain, "warmup: 5s, ", "", 1), "until: stable}",
			"until: stable, warmup: 0s}", 1) + "defaults: {warmup: 5s}\n"},
		"a base elsewhere": {
			"sub/base.yaml": strings.NewReplacer("rows.json", "../rows.json", "60s", "10s").Replace(plain),
			"plan.yaml":     "version: 1\nextends: sub/base.yaml\nstages: [{id: a, for: 60s}]\n",
		},
		"targets": {"plan.yaml": strings.Replace(strings.Replace(plain, "target: {", "targets: {main: {", 1),
			"B: y}}", "B: y}}}", 1)},
	}
	want := fingerprintOf(t, map[string]string{"plan.yaml": plain})
	for name, files := range ways {
		if got := fingerprintOf(t, files); got != want {
			t.Errorf("%s: another fingerprint", name)
		}
	}
}

func fingerprintOf(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("rows.json", `{"data": []}`)
	var profiles []string
	for name, text := range files {
		write(name, text)
		if strings.Contains(text, "profiles:") {
			profiles = []string{"p"}
		}
	}
	plan, ds := LoadFile(filepath.Join(dir, "plan.yaml"), Overrides{Profiles: profiles})
	if plan == nil {
		t.Fatalf("refused:\n%v\n%s", ds, files["plan.yaml"])
	}
	return plan.Fingerprint()
}

// TestFingerprintSeesEveryValue changes each value of every resolved plan of testdata, one at a
// time. Where that is still a plan, it is another one.
func TestFingerprintSeesEveryValue(t *testing.T) {
	files, _ := filepath.Glob("../testdata/plans/valid/*.yaml")
	changed := 0
	for _, path := range files {
		plan, ds := readPlanFile(t, path).parse()
		if plan == nil {
			t.Fatalf("%s is refused:\n%v", path, ds)
		}
		data, err := json.Marshal(plan.Resolved())
		if err != nil {
			t.Fatal(err)
		}
		root, ds := source.Parse(path, data)
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		count := 0
		eachScalar(root, "", func(*source.Node, string) { count++ })
		some, seen := max(1, count/40), 0 // of the longest plans every second value, or so
		eachScalar(root, "", func(n *source.Node, pointer string) {
			if seen++; meaningless(pointer) || seen%some != 0 {
				return
			}
			before := *n
			mutate(n)
			text, err := json.Marshal(root.JSON())
			*n = before
			if err != nil {
				t.Fatal(err)
			}
			other, _ := Parse(path, text, Overrides{})
			if other == nil {
				return // no plan any more
			}
			changed++
			if other.Fingerprint() == plan.Fingerprint() {
				t.Errorf("%s: %s is %s in one plan and different in the other, with one fingerprint",
					filepath.Base(path), pointer, before.Text)
			}
		})
	}
	if changed < 500 {
		t.Errorf("only %d changes gave another plan", changed)
	}
}

// meaningless are what a plan is called and where it is written, and the values of variables that
// stand elsewhere too.
func meaningless(pointer string) bool {
	return slices.ContainsFunc([]string{"/name", "/description", "/labels/", "/output/", "/vars/", "/baseline"},
		func(p string) bool { return strings.HasPrefix(pointer, p) }) ||
		strings.HasSuffix(pointer, "/description") || strings.Contains(pointer, "/labels/")
}

var firstDigit = regexp.MustCompile(`[0-9]`)

// mutate makes another value of the same kind.
func mutate(n *source.Node) {
	switch {
	case n.Tag == "!!bool":
		n.Text = strconv.FormatBool(n.Text != "true")
	case firstDigit.MatchString(n.Text):
		at := firstDigit.FindStringIndex(n.Text)
		n.Text = n.Text[:at[0]] + string('1'+(n.Text[at[0]]-'0'+1)%9) + n.Text[at[1]:]
	default:
		n.Text += "x"
	}
}

func eachScalar(n *source.Node, path string, visit func(*source.Node, string)) {
	for _, e := range n.Entries {
		eachScalar(e.Value, path+source.JoinPointer(e.Key), visit)
	}
	for i, item := range n.Items {
		eachScalar(item, path+"/"+strconv.Itoa(i), visit)
	}
	if n.Kind == source.Scalar {
		visit(n, path)
	}
}
