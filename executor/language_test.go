package executor

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-bench/sluice/executor/result"
)

// proof is a plan and what every key named by it changes where somebody else can see it: on the
// wire, in the schedule, in the result.
type proof struct {
	keys string // of schema.Keys, separated by spaces
	// http and grpc say over which the plan is played; neither means both. URL in the plan is the
	// witness's.
	http, grpc bool
	target     string // keys of the target
	top        string // lines of the plan
	stage      string // keys of the stage besides id and load
	load       string // concurrency: 1
	witness    func(*witness)
	check      func(t *testing.T, w *witness, n *result.Node, r *result.Result)
}

// each checks every request that the witness saw; what names it in messages.
func each(
	what string, want any, got func(request) any,
) func(*testing.T, *witness, *result.Node, *result.Result) {
	return func(t *testing.T, w *witness, _ *result.Node, _ *result.Result) {
		t.Helper()
		all := w.all()
		if len(all) == 0 {
			t.Error("nothing was sent")
		}
		for _, r := range all {
			if diff := cmp.Diff(want, got(r)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", what, diff)
				return
			}
		}
	}
}

// values checks the values of INT32 inputs with a condition that all of them must meet.
func values(
	name string, want func(all []int32) bool,
) func(*testing.T, *witness, *result.Node, *result.Result) {
	return func(t *testing.T, w *witness, _ *result.Node, _ *result.Result) {
		t.Helper()
		var all []int32
		for _, r := range w.all() {
			all = append(all, ints(r.data)...)
		}
		if len(all) == 0 || !want(all) {
			t.Errorf("%s: %v", name, all[:min(len(all), 40)])
		}
	}
}

func within(lo, hi int32) func([]int32) bool {
	return func(all []int32) bool {
		return slices.Min(all) >= lo && slices.Max(all) <= hi && (lo == hi || slices.Min(all) != slices.Max(all))
	}
}

func texts4(want func(string) bool) func(*testing.T, *witness, *result.Node, *result.Result) {
	return func(t *testing.T, w *witness, _ *result.Node, _ *result.Result) {
		t.Helper()
		for _, r := range w.all() {
			for _, s := range strs(r.data) {
				if !want(s) {
					t.Errorf("a string is %q", s)
				}
			}
			if len(strs(r.data)) != 4 {
				t.Errorf("%d strings", len(strs(r.data)))
			}
		}
	}
}

func asBytes(w *witness) { w.typ, w.dim = "BYTES", 4 }

func fourInts(w *witness) { w.dim = 4 }

// generator is a proof about a form of data.generate for a tensor of 4 elements.
func generator(keys, form string, check func(*testing.T, *witness, *result.Node, *result.Result)) proof {
	return proof{
		keys: keys, http: true, witness: fourInts, stage: "for: 16 requests",
		top: "data: {generate: {IN: " + form + "}}", check: check,
	}
}

func text(keys, data string, want func(string) bool) proof {
	return proof{
		keys: keys, http: true, witness: asBytes, top: "data: " + data, stage: "for: 16 requests",
		check: texts4(want),
	}
}

func only(letters string, lo, hi int) func(string) bool {
	return func(s string) bool { return len(s) >= lo && len(s) <= hi && strings.Trim(s, letters) == "" }
}

// play runs the proof's plan against a witness.
func (p proof) play(t *testing.T, transport string) (*witness, *result.Result) {
	w := watch(t, p.witness)
	load, stage := p.load, p.stage
	if load == "" {
		load = "{concurrency: 1}"
	}
	if !strings.Contains(stage, "for:") && !strings.Contains(p.top, "for:") &&
		!strings.Contains(stage, "until:") {
		stage += ", for: 4 requests"
	}
	target := "backend: kserve, url: \"" + w.url(transport) + "\", ready: 0s"
	if !strings.Contains(p.target, "model:") {
		target += ", model: m"
	}
	shapes := ""
	if !strings.Contains(p.stage, "shapes") && w.dim < 0 {
		shapes = ", shapes: {IN: [4]}"
	}
	plan := fmt.Sprintf("version: 1\n%s\nstages:\n  - {id: s, load: %s%s, %s}\n",
		p.top, load, shapes, strings.TrimPrefix(stage, ", "))
	if !strings.Contains(p.top, "targets:") {
		plan += "target: {" + strings.TrimSuffix(target+", "+p.target, ", ") + "}\n"
	}
	return w, play(t, strings.ReplaceAll(plan, "WITNESS", w.url(transport)), w.url(transport), Env{})
}

// proofs are one or more for each key that can be seen on the wire or in one node's result.
func proofs() []proof {
	header := func(r request) any { return r.header.Get("X-A") + " " + r.header.Get("X-B") }
	return []proof{
		{
			keys:   "target.model_version target.model target target.backend target.url",
			target: "model: m, model_version: 3",
			check:  each("model and version", "m 3", func(r request) any { return r.model + " " + r.version }),
		},
		{
			keys: "stages.model", target: "model: m, model_version: 3", stage: "model: other",
			check: each("another model has no version of the target's",
				"other ", func(r request) any { return r.model + " " + r.version }),
		},
		{
			keys: "target.headers stages.headers", target: "headers: {X-A: t, x-b: t}", stage: "headers: {X-B: s}",
			check: each("headers", "t s", header),
		},
		{
			keys: "target.parameters stages.parameters", target: "parameters: {i: 1, b: true, f: 1.5, s: x, over: 1}",
			stage: "parameters: {over: 2}",
			check: each("parameters",
				any(map[string]any{"i": int64(1), "b": true, "f": 1.5, "s": "x", "over": int64(2)}),
				func(r request) any { return r.params }),
		},
		{
			keys: "stages.outputs", stage: "outputs: [OUT2]",
			check: each("outputs", any([]string{"OUT2"}), func(r request) any { return r.outputs }),
		},
		{
			keys:  "stages.outputs.name stages.outputs.classification",
			stage: "outputs: [{name: OUT2, classification: 3}, {name: OUT}]",
			check: each("outputs", any([]string{"OUT2/3", "OUT"}), func(r request) any { return r.outputs }),
		},
		{
			keys: "stages.shapes stages.batch", stage: "shapes: {IN: [3]}, batch: 2",
			check: each("shape", any([]int64{2, 3}), func(r request) any { return r.shape }),
		},
		{
			keys: "defaults", top: "defaults: {batch: 5, headers: {X-A: d}, for: 3 requests}",
			check: func(t *testing.T, w *witness, n *result.Node, r *result.Result) {
				each("defaults",
					"5 d", func(r request) any { return fmt.Sprint(r.shape[0], " ", r.header.Get("X-A")) })(t, w, n, r)
				if len(w.all()) != 3 {
					t.Errorf("%d requests", len(w.all()))
				}
			},
		},
		{
			keys: "target.tensors target.tensors.input", http: true, target: "tensors: {input: json}",
			top: "data: {generate: {IN: 7}}",
			check: each("JSON",
				"[7,7,7,7] true", func(r request) any { return fmt.Sprint(r.text, " ", r.binaryOutput) }),
		},
		{
			keys: "target.tensors.output", http: true, target: "tensors: {output: json}",
			top: "data: {generate: {IN: 7}}",
			check: each("raw, but JSON outputs",
				"16 false", func(r request) any { return fmt.Sprint(len(r.data), " ", r.binaryOutput) }),
		},
		{
			keys: "targets stages.target",
			top: "targets: {a: {backend: kserve, url: \"http://127.0.0.1:1\", model: a}, b: {backend: kserve, " +
				"url: WITNESS, model: b, ready: 0s}}",
			stage: "target: b", check: each("the second target", "b", func(r request) any { return r.model }),
		},
		{
			keys: "datasets stages.data", top: "datasets: {a: {generate: {IN: 1}}, b: {generate: {IN: 2}}}",
			stage: "data: b", check: values("the second dataset", within(2, 2)),
		},
		{
			keys: "vars vars.NAME.default vars.NAME.type",
			top: "vars: {n: 3, x: {default: 2.5, type: number}, yes: true, d: 7s, word: {default: \"5\", type: " +
				"text}, b: {default: 6, type: int}}",
			target: "parameters: {n: \"${n}\", x: \"${x}\", yes: \"${yes}\", word: \"${word}\", mixed: " +
				"\"v${n}\"}, timeout: \"${d}\"", stage: "batch: \"${b}\"",
			check: each("variables keep their types", any(map[string]any{
				"n": int64(3), "x": 2.5, "yes": true, "word": "5", "mixed": "v3", "batch": int64(6),
			}), func(r request) any {
				r.params["batch"] = r.shape[0]
				return r.params
			}),
		},
		{
			keys: "stages.matrix stages.matrix.include stages.matrix.exclude",
			stage: `matrix: {p: [1, x], d: [1ms, 2s], exclude: [{p: x, d: 1ms}], include: [{p: 1, more: 3}, {p: ` +
				`x, more: "4"}]}, parameters: {p: "${matrix.p}", more: "${matrix.more}", text: ` +
				`"v${matrix.p}-${matrix.d}"}, assert: ["latency.min < 20s + ${matrix.d}"], for: 2 requests`,
			check: func(t *testing.T, w *witness, _ *result.Node, r *result.Result) {
				var sent, nodes []string
				for _, q := range w.all() {
					sent = append(sent,
						fmt.Sprintf("%T %v %T %s", q.params["p"], q.params["p"], q.params["more"], q.params["text"]))
				}
				for _, n := range r.Nodes {
					nodes = append(nodes,
						fmt.Sprint(n.ID, " ", n.Point["p"], " ", n.Assertions[0].Verdict, " ", *n.Assertions[0].Limit))
				}
				first, second, third := "int64 1 int64 v1-1ms", "int64 1 int64 v1-2s", "string x string vx-2s"
				if diff := cmp.Diff([]string{first, first, second, second, third, third}, sent); diff != "" {
					t.Errorf("requests (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff([]string{
					"s[p=1,d=1ms] 1 pass 20.001", "s[p=1,d=2s] 1 pass 22", "s[p=x,d=2s] x pass 22",
				}, nodes); diff != "" {
					t.Errorf("nodes (-want +got):\n%s", diff)
				}
			},
		},

		generator("data data.generate", "7", values("constant", within(7, 7))),
		generator("data.generate", "[1, 2, 3, 4]",
			values("list", func(all []int32) bool { return slices.Equal(all[:8], []int32{1, 2, 3, 4, 1, 2, 3, 4}) })),
		generator("data.generate.NAME.min data.generate.NAME.max",
			"{min: 200, max: 203}", values("uniform", within(200, 203))),
		generator("data.generate.NAME.mean data.generate.NAME.std",
			"{mean: 100000, std: 10}", values("normal", within(99900, 100100))),
		generator("data.generate.NAME.shape", "{shape: exponential, mean: 1000, max: 2000}", values("exponential, cut", func(all []int32) bool {
			return within(0, 2000)(all) && slices.Min(all) < 700 && slices.Contains(all, 2000)
		})),
		generator("data.generate.NAME.values", "{values: {\"8\": 1, \"9\": 3}}", values("weights", func(all []int32) bool {
			nines := len(slices.DeleteFunc(slices.Clone(all), func(v int32) bool { return v != 9 }))
			return within(8, 9)(all) && nines > len(all)/2
		})),
		generator("data.generate.NAME.one_of", "{one_of: [5, 6]}", values("one of", within(5, 6))),
		generator("data.generate", "zero", values("zero", within(0, 0))),
		{
			keys: "data.generate", http: true, witness: fourInts, top: "data: {generate: zero}",
			check: values("all zero", within(0, 0)),
		},
		{
			keys: "data.generate", http: true, witness: fourInts, top: "data: {generate: random}",
			stage: "for: 16 requests", check: values("random", within(0, 100)),
		},
		{
			keys: "data.generate.NAME.file", http: true, witness: fourInts,
			top:   "data: {generate: {IN: {file: testdata/four.bin}}}",
			check: values("file", within(0x41414141, 0x41414141)),
		},
		text("data.generate.NAME.length data.generate.NAME.alphabet",
			"{generate: {IN: {length: 3, alphabet: ab}}}", only("ab", 3, 3)),
		text("data.generate.NAME.length.min data.generate.NAME.length.max",
			"{generate: {IN: {length: {min: 5, max: 6}}}}", func(s string) bool { return len(s) == 5 || len(s) == 6 }),
		text("data.generate.NAME.length.mean data.generate.NAME.length.std data.generate.NAME.length.shape",
			"{generate: {IN: {length: {shape: normal, mean: 1000, std: 1}}}}",
			func(s string) bool { return len(s) > 980 && len(s) < 1020 }),
		text("data.generate.NAME.length.values",
			"{generate: {IN: {length: {values: [2]}}}}", func(s string) bool { return len(s) == 2 }),
		text("data.string_length",
			"{generate: random, string_length: 9}", func(s string) bool { return len(s) == 9 }),
		{
			keys: "data.count data.order", http: true, witness: fourInts, top: "data: {generate: random, count: 3}",
			stage: "for: 9 requests",
			check: order("3 rows in turn",
				func(ids []int) bool { return slices.Equal(ids, []int{0, 1, 2, 0, 1, 2, 0, 1, 2}) }),
		},
		{
			keys: "data.order", http: true, witness: fourInts,
			top: "data: {generate: random, count: 5, order: random}", stage: "for: 40 requests",
			check: order("drawn each time",
				func(ids []int) bool { return !slices.Equal(ids[:5], ids[5:10]) || !slices.Equal(ids[:5], ids[10:15]) }),
		},
		{
			keys: "data.file data.format", http: true, witness: fourInts,
			top: "data: {file: testdata/rows.json, format: perf_analyzer}",
			check: values("rows",
				func(all []int32) bool { return slices.Equal(all[:8], []int32{1, 2, 3, 4, 5, 6, 7, 8}) }),
		},
		{
			keys: "data.rows", http: true, witness: fourInts,
			top: "data: {rows: [{IN: [1, 2, 3, 4]}, {inputs: {IN: {content: [5, 6, 7, 8]}}, parameters: {k: 2}}]}",
			check: func(t *testing.T, w *witness, n *result.Node, r *result.Result) {
				values("rows",
					func(all []int32) bool { return slices.Equal(all[:8], []int32{1, 2, 3, 4, 5, 6, 7, 8}) })(t, w, n, r)
				if all := w.all(); all[0].params["k"] != nil || all[1].params["k"] != int64(2) {
					t.Errorf("parameters %v and %v", all[0].params, all[1].params)
				}
			},
		},
		{
			keys: "data.columns", http: true, witness: fourInts,
			top: `data: {file: testdata/table.csv, columns: {inputs.IN: ids, parameters.k: "top k"}}`,
			check: each("columns",
				"3 x", func(r request) any { return fmt.Sprint(ints(r.data)[2], " ", r.params["k"]) }),
		},
		{
			keys: "data.dir", http: true, witness: fourInts, top: "data: {dir: testdata/tensors}",
			check: values("folder", within(0x41414141, 0x41414141)),
		},
		{
			keys: "data.bodies", http: true, witness: fourInts, top: "data: {bodies: \"testdata/bodies/*.json\"}",
			check: each("body",
				"[1,2,3,4] true", func(r request) any { return fmt.Sprint(r.text, " ", r.binaryOutput) }),
		},
		{
			keys: "data.bodies", grpc: true, witness: fourInts, top: "data: {bodies: testdata/bodies/body.bin}",
			check: each("body", "[9 8 7 6]", func(r request) any { return fmt.Sprint(ints(r.data)) }),
		},
		{
			keys: "data.time_unit", http: true, witness: fourInts,
			top: "data: {file: testdata/timed.json, time_unit: s}", load: "{schedule: {}}", stage: "for: 3 requests",
			check: func(t *testing.T, w *witness, n *result.Node, _ *result.Result) {
				if got := len(w.all()); got != 3 || n.Duration < 0.29 {
					t.Errorf("%d requests in %v s, want 3 in 0.3", got, n.Duration)
				}
			},
		},
		{
			keys: "data.order data.file", http: true, witness: fourInts,
			top: "seed: 3\ndata: {file: testdata/rows.json, order: shuffle}", stage: "for: 6 requests",
			check: values("one permutation, again and again", func(all []int32) bool {
				return !slices.Equal(all[:4], []int32{1, 2, 3, 4}) && slices.Equal(all[:12], all[12:24])
			}),
		},
		{
			keys: "data.at_end", http: true, witness: fourInts, top: "data: {file: testdata/rows.json, at_end: stop}",
			stage: "for: 60s",
			check: func(t *testing.T, w *witness, n *result.Node, _ *result.Result) {
				if got := len(w.all()); got != 3 || n.Outcome != result.Done {
					t.Errorf("%d requests of 3 rows, %s %s", got, n.Outcome, n.Reason)
				}
			},
		},
	}
}

// order numbers the rows that were sent in the order in which they first came, and checks that sequence.
func order(name string, want func(ids []int) bool) func(*testing.T, *witness, *result.Node, *result.Result) {
	return func(t *testing.T, w *witness, _ *result.Node, _ *result.Result) {
		t.Helper()
		known := map[string]int{}
		var ids []int
		for _, r := range w.all() {
			if _, ok := known[string(r.data)]; !ok {
				known[string(r.data)] = len(known)
			}
			ids = append(ids, known[string(r.data)])
		}
		if !want(ids) {
			t.Errorf("%s: %v", name, ids)
		}
	}
}

// TestLanguage plays every proof.
func TestLanguage(t *testing.T) {
	t.Parallel()
	for _, p := range proofs() {
		for _, transport := range []string{"http", "grpc"} {
			if (p.http || p.grpc) && (transport == "http") != p.http {
				continue
			}
			t.Run(p.keys+" "+transport, func(t *testing.T) {
				w, r := p.play(t, transport)
				if len(r.Nodes) == 0 {
					t.Fatal("no node")
				}
				p.check(t, w, r.Nodes[0], r)
			})
		}
	}
}
