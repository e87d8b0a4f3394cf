package scenario

import "testing"

// TestWhatOthersGotWrong plays what users of other tools reported of their configurations: lists
// merged by index, defaults that did not apply, values that were changed on the way, keys that were
// dropped in silence.
func TestWhatOthersGotWrong(t *testing.T) {
	const stage = "stages: [{id: s, load: {rate: 5/s}, for: 1s}]\n"
	const three = "stages: [{id: a, load: {rate: 1/s}, for: 1s}, {id: b, load: {rate: 2/s}, for: 1s}, {id: " +
		"c, load: {rate: 3/s}, for: 1s}]\n"
	for _, c := range []mergeCase{
		{
			clause:   "one stage of an environment is not merged into the first of three by its index",
			profiles: []string{"p"},
			files:    one("profiles: {p: {stages: {c: {for: 9s}}}}\n" + three),
			want: map[string]string{
				"/stages/0/for": `"1s"`, "/stages/0/load/rate": `"1/s"`, "/stages/2/for": `"9s"`,
				"/stages/2/load/rate": `"3/s"`, "/stages/3": "",
			},
		},
		{
			clause: "a variable that the base requires may be given by the plan that extends it",
			files: map[string]string{
				"base.yaml": "version: 1\nvars: {url: {env: NOT_SET}}\ntarget: {backend: kserve, url: \"${url}\", " +
					"model: m}\n" + stage,
				"plan.yaml": "version: 1\nextends: base.yaml\nvars: {url: \"http://x:1\"}\n",
			},
			want: map[string]string{"/targets/main/url": `"http://x:1"`},
		},
		{
			clause: "and its lack is said where it is declared", mistake: `no value for variable "url"`,
			files: map[string]string{
				"base.yaml": "version: 1\nvars: {url: {env: NOT_SET}}\ntarget: {backend: kserve, url: \"${url}\", " +
					"model: m}\n" + stage,
				"plan.yaml": "version: 1\nextends: base.yaml\n",
			},
		},
		{
			clause: "an empty default is a value", files: one("vars: {v: \"\"}\nlabels: {a: \"<${v}>\"}\n" + stage),
			want: map[string]string{"/labels/a": `"<>"`},
		},
		{
			clause: "an empty environment variable is a value too",
			files:  one("vars: {v: {default: x, env: V}}\nlabels: {a: \"<${v}>\"}\n" + stage),
			args:   overrides{env: map[string]string{"V": ""}},
			want:   map[string]string{"/labels/a": `"<>"`},
		},
		{
			clause: "a default applies when the environment has nothing",
			files:  one("vars: {v: {default: x, env: V}}\nlabels: {a: \"<${v}>\"}\n" + stage),
			want:   map[string]string{"/labels/a": `"<x>"`},
		},
		{
			clause: "dollars in the value of a variable are only dollars",
			files:  one("vars: {v: {default: x}}\nlabels: {a: \"${v}\", b: \"pa$$word$D\"}\n" + stage),
			args:   overrides{vars: []string{"v=a$b${c}$$d"}},
			want:   map[string]string{"/labels/a": `"a$b$${c}$$d"`, "/labels/b": `"pa$$word$D"`},
		},
		{
			clause: "999999 and 1000000 look alike",
			files: one("vars: {n: 1000000}\nseed: 999999\nlabels: {a: \"${n}\"}\ndefaults: {parameters: {p: " +
				"1048576, q: \"${n}\", r: 9007199254740993}}\n" + stage),
			want: map[string]string{
				"/seed": "999999", "/labels/a": `"1000000"`,
				"/stages/0/parameters": `{"p":1048576,"q":1000000,"r":9007199254740993}`,
			},
		},
		{
			clause: "null deletes one key of a map and leaves the others", profiles: []string{"p"},
			files: two("defaults: {headers: {A: x, B: y}}\n"+stage,
				"profiles: {p: {defaults: {headers: {A: null}}}}\n"), want: map[string]string{
				"/stages/0/headers": `{"B":"y"}`,
			},
		},
		{
			clause:  "a merge key is refused and not guessed",
			files:   one("defaults: &d {warmup: 1s}\nlabels: {<<: *d, warmup: 2s}\n" + stage),
			mistake: "merge keys (<<) are not part of plans",
		},
		{
			clause: "a key that stands twice is refused", files: one("labels: {a: x, a: y}\n" + stage),
			mistake: `duplicate key "a"`,
		},
		{
			clause: "an override that matches nothing is refused: an index of a list", files: one(stage),
			args:    overrides{sets: []string{"stages.0.for=9s"}},
			mistake: `--set stages.0.for matches nothing: no item has the id "0"`,
		},
		{
			clause: "an override that matches nothing is refused: a misspelt key", files: one(stage),
			args:    overrides{sets: []string{"stages.s.fro=9s"}},
			mistake: `--set stages.s.fro matches nothing: there is no "fro"`,
		},
		{
			clause: "an override on the command line beats the file", files: one("seed: 1\n" + stage),
			args: overrides{sets: []string{"seed=2"}}, want: map[string]string{"/seed": "2"},
		},
		{
			clause: "an override replaces and does not append",
			files:  one("vars: {v: x}\nlabels: {a: \"${v}\"}\n" + stage),
			args:   overrides{vars: []string{"v=y", "v=z"}},
			want:   map[string]string{"/labels/a": `"z"`},
		},
		{
			clause: "a base of a base may be changed by each that extends it",
			files: map[string]string{
				"sub/first.yaml": one("seed: 1\nlabels: {a: first, b: first, c: first}\n" + stage)["plan.yaml"],
				"middle.yaml":    "version: 1\nextends: sub/first.yaml\nlabels: {b: middle, c: middle}\n",
				"plan.yaml":      "version: 1\nextends: middle.yaml\nlabels: {c: plan}\n",
			},
			want: map[string]string{"/labels": `{"a":"first","b":"middle","c":"plan"}`, "/seed": "1"},
		},
		{
			clause: "removing works below an anchor", profiles: []string{"p"},
			files: one("labels: &l {a: x, b: y}\nprofiles: {p: {labels: {a: null}}}\nstages: [{id: s, labels: *l, " +
				"load: {rate: 5/s}, for: 1s}]\n"),
			want: map[string]string{"/labels": `{"b":"y"}`, "/stages/0/labels": `{"a":"x","b":"y"}`},
		},
		{
			clause: "a path with an index says so in a profile too", profiles: []string{"p"},
			files: one("profiles: {p: {stages: {\"0\": {for: 2s}}}}\n" + stage), mistake: `no stage has the id "0"`,
		},
		{
			clause: "each level of a list is played",
			files:  one("stages: [{id: s, load: {concurrency: [3, 5, 7]}, for: 9 requests}]\n"),
			want:   map[string]string{"/stages/0/load/concurrency": "[3,5,7]", "/stages/0/for": `"9 requests"`},
		},
		{
			clause: "a text cannot change what an assertion means",
			files: one("vars: {v: {default: \"1ms or true\", type: text}}\nstages: [{id: s, load: {rate: 5/s}, " +
				"for: 1s, assert: [\"latency.p99 < ${v}\"]}]\n"),
			want: map[string]string{"/stages/0/assert/0/that": `"latency.p99 < ${v}"`},
		},
	} {
		t.Run(c.clause, c.check)
	}
}
