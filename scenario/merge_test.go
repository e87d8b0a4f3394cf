package scenario

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// mergeCase is one clause of the merge rule: what is written, and what a place of the resolved plan
// is then.
type mergeCase struct {
	clause   string
	files    map[string]string // plan.yaml, and the files that it extends; "head" stands in plan.yaml only
	profiles []string
	args     overrides
	want     map[string]string // JSON by pointer; "" for what is not there
	mistake  string            // instead: the one mistake
}

// one is a file set of one plan with a target.
func one(plan string) map[string]string {
	return map[string]string{
		"plan.yaml": "version: 1\ntarget: {backend: kserve, url: \"http://h:1\", model: m}\n" + plan,
	}
}

func two(base, plan string) map[string]string {
	return map[string]string{
		"base.yaml": one(base)["plan.yaml"], "plan.yaml": "version: 1\nextends: base.yaml\n" + plan,
	}
}

func mergeCases() []mergeCase {
	const stage = "stages: [{id: s, load: {rate: 5/s}, for: 1s}]\n"
	return []mergeCase{
		{
			clause: "maps merge", files: one("labels: {a: x, b: y}\nprofiles: {p: {labels: {b: z, c: w}}}\n" + stage),
			profiles: []string{"p"},
			want:     map[string]string{"/labels": `{"a":"x","b":"z","c":"w"}`},
		},
		{
			clause: "maps merge at any depth",
			files: one("profiles: {p: {target: {headers: {B: two}}}}\n" + stage +
				"defaults: {headers: {A: one}}\n"),
			profiles: []string{"p"},
			want: map[string]string{
				"/targets/main/headers": `{"B":"two"}`, "/targets/main/model": `"m"`, "/stages/0/headers": `{"A":"one"}`,
			},
		},
		{
			clause: "stages merge by id: a profile's map",
			files: one("profiles: {p: {stages: {b: {for: 9s}}}}\nstages: [{id: a, load: {rate: 5/s}, for: 1s}, " +
				"{id: b, load: {rate: 5/s}, for: 1s}]\n"), profiles: []string{"p"},
			want: map[string]string{"/stages/0/for": `"1s"`, "/stages/1/for": `"9s"`, "/stages/2": ""},
		},
		{
			clause: "stages merge by id: a list over a list, new ones follow",
			files: two("stages: [{id: a, load: {rate: 5/s}, for: 1s}, {id: b, load: {rate: 5/s}, for: 1s}]\n",
				"stages: [{id: c, load: {rate: 1/s}, for: 3s}, {id: a, for: 2s}]\n"),
			want: map[string]string{
				"/stages/0/id": `"a"`, "/stages/0/for": `"2s"`, "/stages/1/id": `"b"`, "/stages/2/id": `"c"`,
			},
		},
		{
			clause: "other lists are replaced",
			files: one("profiles: {p: {stages: {s: {assert: [latency.p99 < 9ms]}}, output: {formats: " +
				"[csv]}}}\noutput: {formats: [json, junit]}\nstages: [{id: s, load: {rate: 5/s}, for: 1s, assert: " +
				"[latency.p99 < 1ms, latency.p50 < 1ms]}]\n"), profiles: []string{"p"},
			want: map[string]string{
				"/stages/0/assert/0/that": `"latency.p99 < 9ms"`, "/stages/0/assert/1": "", "/output/formats": `["csv"]`,
			},
		},
		{
			clause: "for removes until",
			files: one("profiles: {p: {stages: {s: {for: 5 requests}}}}\nstages: [{id: s, load: {rate: 5/s}, " +
				"until: stable}]\n"), profiles: []string{"p"},
			want: map[string]string{"/stages/0/for": `"5 requests"`, "/stages/0/until": ""},
		},
		{
			clause: "until removes for", files: one("profiles: {p: {stages: {s: {until: stable}}}}\n" + stage),
			profiles: []string{"p"},
			want:     map[string]string{"/stages/0/for": "", "/stages/0/until/stable/windows": "3"},
		},
		{
			clause: "a stage's until removes the for of the defaults",
			files:  one("defaults: {for: 1s}\nstages: [{id: s, load: {rate: 5/s}, until: stable}]\n"),
			want:   map[string]string{"/stages/0/for": "", "/stages/0/until/stable/windows": "3"},
		},
		{
			clause: "a kind of load removes the other and the options that do not fit",
			files: one("profiles: {p: {stages: {s: {load: {concurrency: 4}}}}}\nstages: [{id: s, load: {rate: " +
				"5/s, arrivals: poisson, max_in_flight: 9}, for: 1s}]\n"), profiles: []string{"p"},
			want: map[string]string{"/stages/0/load": `{"concurrency":4,"think":"0s"}`},
		},
		{
			clause: "a form of a quantity removes the other",
			files: one("profiles: {p: {stages: {s: {load: {rate: {levels: {factor: 2}}}}}}}\nstages: [{id: s, " +
				"load: {rate: {levels: {from: 1/s, to: 8/s, step: 1/s}}}, for: 1s}]\n"), profiles: []string{"p"},
			want: map[string]string{"/stages/0/load/rate/levels": `{"factor":2,"from":"1/s","to":"8/s"}`},
		},
		{
			clause: "a scalar replaces a map form of a quantity",
			files: one("profiles: {p: {stages: {s: {load: {rate: 7/s}}}}}\nstages: [{id: s, load: {rate: {levels: " +
				"{from: 1/s, to: 8/s}}}, for: 1s}]\n"), profiles: []string{"p"},
			want: map[string]string{"/stages/0/load/rate": `"7/s"`},
		},
		{
			clause: "a source of data removes the other and its options",
			files: one("profiles: {p: {data: {generate: zero}}}\ndata: {file: plan.yaml, format: perf_analyzer}\n" +
				stage), profiles: []string{"p"},
			want: map[string]string{
				"/datasets/main/generate": `"zero"`, "/datasets/main/file": "", "/datasets/main/format": "",
			},
		},
		{
			clause:   "null removes a key",
			files:    one("profiles: {p: {seed: null, output: {dir: null}}}\nseed: 4\noutput: {dir: x, formats: [csv]}\n" + stage),
			profiles: []string{"p"},
			want:     map[string]string{"/seed": "0", "/output/dir": "", "/output/formats": `["csv"]`},
		},
		{
			clause: "null removes a map",
			files: one("profiles: {p: {defaults: {headers: null}, seed: null}}\nseed: 4\ndefaults: {headers: {A: " +
				"b}}\n" + stage), profiles: []string{"p"},
			want: map[string]string{"/stages/0/headers": "", "/seed": "0"},
		},
		{
			clause: "null removes what the defaults give a stage",
			files: one("profiles: {p: {stages: {s: {warmup: null}}}}\ndefaults: {warmup: 5s}\nstages: [{id: s, " +
				"load: {rate: 5/s}, for: 1s}, {id: t, load: {rate: 5/s}, for: 1s}]\n"), profiles: []string{"p"},
			want: map[string]string{"/stages/0/warmup": `"0s"`, "/stages/1/warmup": `"5s"`},
		},
		{
			clause: "null in a plan that extends removes a key of its base",
			files:  two("seed: 4\n"+stage, "seed: null\n"),
			want:   map[string]string{"/seed": "0"},
		},
		{
			clause: "null takes a stage out",
			files: one("profiles: {p: {stages: {t: null}}}\nstages: [{id: s, load: {rate: 5/s}, for: 1s}, {id: t, " +
				"load: {rate: 5/s}, for: 1s}]\n"), profiles: []string{"p"},
			want: map[string]string{"/stages/0/id": `"s"`, "/stages/1": ""},
		},
		{
			clause: "a path is relative to the file that holds it: a base in another folder", files: map[string]string{
				"sub/rows.json": `{"data": [{"IN": [1]}]}`,
				"sub/base.yaml": one("data: {file: rows.json}\n" + stage)["plan.yaml"],
				"plan.yaml":     "version: 1\nextends: sub/base.yaml\n",
			},
			want: map[string]string{"/datasets/main/file": `"sub/rows.json"`},
		},
		{
			clause: "and not to the file that it extends", files: map[string]string{
				"sub/rows.json": `{"data": [{"IN": [1]}]}`, "sub/base.yaml": one(stage)["plan.yaml"],
				"plan.yaml": "version: 1\nextends: sub/base.yaml\ndata: {file: rows.json}\n",
			},
			mistake: `file "rows.json" cannot be opened: no such file or directory`,
		},
		{
			clause: "a literal ${ is written $${, and stays so",
			files:  one("vars: {x: 1}\nlabels: {a: \"$${x} ${x}\"}\n" + stage),
			want:   map[string]string{"/labels/a": `"$${x} 1"`},
		},
		{
			clause: "null in a plan is a mistake", files: one("seed: null\n" + stage), mistake: "`seed` has no value",
		},
		{
			clause: "null in a base is a mistake", files: two("seed: null\n"+stage, ""),
			mistake: "`seed` has no value",
		},
		{
			clause:   "null that removes nothing is a mistake",
			files:    one("profiles: {p: {target: {tls: null}}}\n" + stage),
			profiles: []string{"p"},
			mistake:  "null for `tls` removes nothing: it is not set here",
		},
		{
			clause:   "two profiles may remove the same key",
			files:    one("profiles: {p: {seed: null}, q: {seed: null}}\nseed: 4\n" + stage),
			profiles: []string{"p", "q"},
			want:     map[string]string{"/seed": "0"},
		},
		{
			clause:   "a later profile gives what an earlier one removed",
			files:    one("profiles: {p: {seed: null}, q: {seed: 7}}\nseed: 4\n" + stage),
			profiles: []string{"p", "q"},
			want:     map[string]string{"/seed": "7"},
		},
		{
			clause: "a scalar for a variable sets its default",
			files: one("vars: {n: {default: 1, env: N, description: d}}\nseed: \"${n}\"\nprofiles: {p: {vars: {n: " +
				"2}}}\n" + stage), profiles: []string{"p"},
			want: map[string]string{"/seed": "2"},
		},
		{
			clause:   "a scalar for a variable leaves its type",
			files:    one("vars: {n: 5ms}\nlabels: {a: \"${n}\"}\nprofiles: {p: {vars: {n: 2}}}\n" + stage),
			profiles: []string{"p"},
			mistake:  `variable "n" (from profile p): duration 2 has no unit`,
		},
		{
			clause:   "several profiles apply in order",
			files:    one("seed: 1\nprofiles: {p: {seed: 2, labels: {a: p}}, q: {seed: 3}}\n" + stage),
			profiles: []string{"p", "q"},
			want:     map[string]string{"/seed": "3", "/labels": `{"a":"p"}`},
		},
		{
			clause: "and in the other order", files: one("seed: 1\nprofiles: {p: {seed: 2}, q: {seed: 3}}\n" + stage),
			profiles: []string{"q", "p"},
			want:     map[string]string{"/seed": "2"},
		},
		{
			clause: "an overlay's target on a plan with targets names the entry",
			files: map[string]string{"plan.yaml": "version: 1\ntargets: {a: {backend: kserve, url: " +
				"\"http://h:1\", model: m}, b: {backend: kserve, url: \"http://h:1\", model: m}}\nprofiles: {p: " +
				"{target: {model: x}}}\ndefaults: {target: a}\n" + stage},
			profiles: []string{"p"},
			mistake:  "`target` over a plan with `targets`: say which of \"a\" and \"b\" is meant",
		},
		{
			clause: "an entry of targets is changed by its name", profiles: []string{"p"},
			files: map[string]string{"plan.yaml": "version: 1\ntargets: {a: {backend: kserve, url: " +
				"\"http://h:1\", model: m}}\nprofiles: {p: {targets: {a: {model: x}}}}\n" + stage},
			want: map[string]string{"/targets/a/model": `"x"`, "/targets/a/backend": `"kserve"`},
		},
		{
			clause:   "default < profile",
			files:    one("vars: {n: {default: 1, env: N}}\nseed: \"${n}\"\nprofiles: {p: {vars: {n: 2}}}\n" + stage),
			profiles: []string{"p"},
			want:     map[string]string{"/seed": "2"},
		},
		{
			clause:   "profile < env",
			files:    one("vars: {n: {default: 1, env: N}}\nseed: \"${n}\"\nprofiles: {p: {vars: {n: 2}}}\n" + stage),
			profiles: []string{"p"}, args: overrides{env: map[string]string{"N": "3"}},
			want: map[string]string{"/seed": "3"},
		},
		{
			clause:   "env < --var",
			files:    one("vars: {n: {default: 1, env: N}}\nseed: \"${n}\"\nprofiles: {p: {vars: {n: 2}}}\n" + stage),
			profiles: []string{"p"}, args: overrides{env: map[string]string{"N": "3"}, vars: []string{"n=4"}},
			want: map[string]string{"/seed": "4"},
		},
		{
			clause: "a profile < --set", files: one("seed: 1\nprofiles: {p: {seed: 2}}\n" + stage),
			profiles: []string{"p"}, args: overrides{sets: []string{"seed=5"}},
			want: map[string]string{"/seed": "5"},
		},
		{
			clause:   "a profile that no stage matches is a mistake",
			files:    one("profiles: {p: {stages: {z: {for: 2s}}}}\n" + stage),
			profiles: []string{"p"},
			mistake:  `no stage has the id "z"`,
		},
		{
			clause: "so it is when nobody chose it", files: one("profiles: {p: {stages: {z: {for: 2s}}}}\n" + stage),
			mistake: `no stage has the id "z"`,
		},
		{
			clause:  "a profile that no key matches is a mistake",
			files:   one("profiles: {p: {vars: {m: 2}}}\n" + stage),
			mistake: `the plan has no variable "m"`,
		},
		{
			clause: "a profile that is not there is a mistake", files: one("profiles: {ci: {seed: 2}}\n" + stage),
			profiles: []string{"ca"},
			mistake:  "--profile ca: the plan has no such profile",
		},
		{
			clause:   "profiles of a base merge with those of the plan",
			files:    two("profiles: {p: {seed: 2, labels: {a: x}}}\n"+stage, "profiles: {p: {seed: 3}}\n"),
			profiles: []string{"p"},
			want:     map[string]string{"/seed": "3", "/labels": `{"a":"x"}`},
		},
	}
}

// TestMergeRule proves the one merge rule of extends, profiles and defaults, a clause a case.
func TestMergeRule(t *testing.T) {
	for _, c := range mergeCases() {
		t.Run(c.clause, c.check)
	}
}

func (c mergeCase) check(t *testing.T) {
	dir := t.TempDir()
	for name, text := range c.files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o := c.args.args()
	o.Profiles = c.profiles
	plan, ds := LoadFile(filepath.Join(dir, "plan.yaml"), o)
	if c.mistake != "" {
		if len(ds) != 1 || ds[0].Summary != c.mistake || plan != nil {
			t.Errorf("want the one mistake %q, got\n%v", c.mistake, ds)
		}
		return
	}
	if plan == nil {
		t.Fatalf("refused:\n%v", ds)
	}
	for pointer, want := range c.want {
		if diff := cmp.Diff(want, resolvedAt(t, plan, pointer)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", pointer, diff)
		}
	}
}

// resolvedAt is a place of the resolved plan as JSON, "" when it is not there.
func resolvedAt(t *testing.T, p *Plan, pointer string) string {
	t.Helper()
	v := p.Resolved()
	for _, key := range strings.Split(strings.TrimPrefix(pointer, "/"), "/") {
		switch at := v.(type) {
		case map[string]any:
			v = at[key]
		case []any:
			i := int(key[0] - '0')
			if i >= len(at) {
				return ""
			}
			v = at[i]
		default:
			v = nil
		}
	}
	if v == nil {
		return ""
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(b.String())
}
