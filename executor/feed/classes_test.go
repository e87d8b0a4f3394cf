package feed

import (
	"testing"

	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/source"
)

// TestClasses: of an output that is asked for as classes the data expects texts, whatever the model
// says of it.
func TestClasses(t *testing.T) {
	const two = `{"data":[{"a":[1,2]},{"a":[3,4]}],"validation_data":[{"o":["2:1","1:0:cat"],"p":[5]},` +
		`{"o":["4:1","3:0"],"p":[6]}]}`
	for _, c := range []struct {
		name, model string
		maxBatch    int
		batch       int
		classes     int64
		data, want  string
	}{
		{
			"two of three", "a:INT8[2] -> o:FP32[3] p:INT8[1]", 4, 1, 2, two,
			`a[1,2]=1,2 -> o[1,2]="2:1","1:0:cat" p[1,1]=5 [o/2 p]; a[1,2]=3,4 -> o[1,2]="4:1","3:0" p[1,1]=6 [o/2 p]`,
		},
		{
			"a batch", "a:INT8[2] -> o:FP32[3] p:INT8[1]", 4, 2, 2, two,
			`a[2,2]=1,2,3,4 -> o[2,2]="2:1","1:0:cat","4:1","3:0" p[2,1]=5,6 [o/2 p] items 2`,
		},
		{
			"no more than there are", "a:INT8[2] -> o:INT64[2,1] p:INT8[1]", 0, 1, 100, two,
			`a[2]=1,2 -> o[2]="2:1","1:0:cat" p[1]=5 [o/100 p]; a[2]=3,4 -> o[2]="4:1","3:0" p[1]=6 [o/100 p]`,
		},
		{
			"of any size", "a:INT8[2] -> o:UINT8[-1,-1] p:INT8[1]", 0, 1, 9, two,
			`a[2]=1,2 -> o[2]="2:1","1:0:cat" p[1]=5 [o/9 p]; a[2]=3,4 -> o[2]="4:1","3:0" p[1]=6 [o/9 p]`,
		},
		{
			"whole", "a:INT8[2] -> o:BYTES[2] p:INT8[1]", 0, 1, 0, two,
			`a[2]=1,2 -> o[2]="2:1","1:0:cat" p[1]=5 [o p]; a[2]=3,4 -> o[2]="4:1","3:0" p[1]=6 [o p]`,
		},
		{
			"fewer expected", "a:INT8[2] -> o:FP32[3] p:INT8[1]", 4, 1, 3, two,
			`error: r.json, row 0, output "o": shape [3] has 3 elements, 2 found`,
		},
		{
			"of texts", "a:INT8[2] -> o:BYTES[3] p:INT8[1]", 4, 1, 2, two,
			`error: output "o" of model "m" is BYTES, of which there are no classes`,
		},
		{
			"of half floats", "a:INT8[2] -> o:FP16[3] p:INT8[1]", 4, 1, 2, two,
			`error: output "o" of model "m" is FP16, of which there are no classes`,
		},
		{
			"of truths", "a:INT8[2] -> o:BOOL[3] p:INT8[1]", 4, 1, 2, two,
			`error: output "o" of model "m" is BOOL, of which there are no classes`,
		},
		{
			"of nothing", "a:INT8[2] -> o:FP32[3,0] p:INT8[1]", 4, 1, 2, two,
			`error: output "o" of model "m" has the shape [3 0], without an element of which there could be classes`,
		},
		{
			"of nothing, whatever its size", "a:INT8[2] -> o:FP32[-1,0] p:INT8[1]", 0, 1, 2, two,
			`error: output "o" of model "m" has the shape [-1 0], without an element of which there could be classes`,
		},
		{
			"nothing whole", "a:INT8[-1] -> o:FP32[0] p:INT8[1]", 0, 1, 0,
			`{"data":[{"a":{"content":[],"shape":[0]}}]}`, `a[0]= [o p]`,
		},
		{
			"what comes of nothing", "a:INT8[-1] -> o:FP32[-1] p:INT8[1]", 4, 1, 2,
			`{"data":[{"a":[1]},{"a":{"content":[],"shape":[0]}}]}`,
			`error: r.json, row 1: input "a" has the shape [0], without an element of which there could be ` +
				`classes in output "o"`,
		},
		{
			"as many, whatever comes in", "a:INT8[-1] -> o:FP32[5] p:INT8[1]", 0, 1, 2,
			`{"data":[{"a":{"content":[],"shape":[0]}}]}`, `a[0]= [o/2 p]`,
		},
		{
			"something beside nothing", "a:INT8[-1] b:INT8[1] -> o:FP32[-1] p:INT8[1]", 0, 1, 2,
			`{"data":[{"a":{"content":[],"shape":[0]},"b":[1]}]}`, `a[0]= b[1]=1 [o/2 p]`,
		},
		{"unknown", "a:INT8[2] -> oo:FP32[3] p:INT8[1]", 4, 1, 2, two, `error: model "m" has no output "o"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := files(t, "r.json", c.data)
			check(t, d,
				&scenario.Request{
					Batch: c.batch, Outputs: []scenario.Wanted{{Name: "o", Classification: c.classes}, {Name: "p"}},
				},
				model(t, c.maxBatch, c.model), c.want)
		})
	}
}

// TestClassesOfNothing: a shape in the plan that leaves nothing to sort is refused where classes
// are asked for.
func TestClassesOfNothing(t *testing.T) {
	r := &scenario.Request{
		Batch: 1, Shapes: []scenario.Shape{{Input: "a", Dims: []int64{0}}},
		Outputs: []scenario.Wanted{{Name: "o", Classification: 2, Pos: source.Pos{Line: 9}}},
	}
	d := &scenario.Dataset{Source: "generate", Generate: &scenario.Generate{}, Count: 2}
	_, diags := Build(d, r, model(t, 4, "a:INT8[-1] -> o:FP32[-1]"), 1)
	if len(diags) != 1 || diags[0].Pos.Line != 9 || diags[0].Code != codeClasses {
		t.Errorf("generated: %+v", diags)
	}
}

// What cannot be had is said where it is asked for, with the name that was meant.
func TestClassesWhere(t *testing.T) {
	d := files(t, "r.json", `{"data":[{"a":[1]}]}`)
	sig := model(t, 0, "a:INT8[1] -> scores:FP32[3]")
	r := &scenario.Request{
		Batch: 1, Outputs: []scenario.Wanted{{Name: "score", Classification: 2, Pos: source.Pos{Line: 9}}},
	}
	if _, diags := Build(d, r, sig, 1); len(diags) != 1 || diags[0].Pos.Line != 9 ||
		diags[0].Nearest != "scores" {
		t.Errorf("an unknown output: %+v", diags)
	}
	r.Outputs[0].Name, sig.Classes = "scores", false
	if _, diags := Build(d, r, sig, 1); len(diags) != 1 || diags[0].Pos.Line != 9 ||
		diags[0].Code != codeClasses {
		t.Errorf("a server without the extension: %+v", diags)
	}
}
