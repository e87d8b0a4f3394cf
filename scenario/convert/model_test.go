package convert_test

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/sluice-bench/sluice/scenario/convert"
)

// What the server says of the model decides where perf_analyzer decides by it: whether requests
// form sequences, as long as the data or as it has them, and which inputs hold the text of
// --string-data. Without it the plan has what the command line says.
func TestModel(t *testing.T) {
	write(t)
	if err := os.WriteFile("marked.json", []byte("\ufeff"+`{"data": [{"INPUT0": [1]}, {"INPUT0": [2]}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	sequences := &convert.Model{Sequences: true, Inputs: []convert.Input{{Name: "INPUT0"}}}
	texts := &convert.Model{Inputs: []convert.Input{{Name: "A"}, {Name: "T:0", Text: true}, {Name: "U", Text: true}}}
	numbers := &convert.Model{Inputs: []convert.Input{{Name: "A"}}} // such as an ensemble, which says nothing of sequences
	alone := &convert.Model{Alone: true}
	for _, c := range []struct {
		line  string
		model *convert.Model
		want  string // "!" in front: is not in it
	}{
		{"-m m", nil, "!sequences:"},
		{"-m m", numbers, "!sequences:"},
		{"-m m", sequences, "sequences: {length: {min: 16, max: 24}}  # the model keeps them"},
		{"-m m --sequence-length 5", alone, "!sequences:"},
		{"-m m --sequence-length 5", alone, "Not needed: --sequence-length: the model keeps no sequences"},
		{"-m m --sequence-length 5 --sequence-length-variation 0", numbers, "sequences: {length: 5}"},
		{"-m m --request-rate-range 5", sequences, "sequences: {length: {min: 16, max: 24}}"},
		{"-m m --sequence-length 5 --sequence-length-variation 0", sequences, "sequences: {length: 5}"},
		{"-m m --input-data inputs.json --input-data input.json", sequences, "sequences: {length: 2}  # the model keeps them"},
		{"-m m --input-data inputs.json --num-of-sequences 3 --request-rate-range 5", nil, "sequences: {live: 3, length: 1}"},
		{"-m m --input-data inputs.json", nil, "!sequences:"},
		{"-m m --input-data marked.json", sequences, "sequences: {length: 2}"},
		{"-m m --input-data seq.json", sequences, "sequences: {}"},
		{"-m m --input-data seq.json", nil, "!sequences:"},
		{"-m m --input-data tensors", sequences, "sequences: {length: {min: 16, max: 24}}"},
		{"-m m --string-data hello", texts, `data: {generate: {"T:0": hello, U: hello}, count: 1}  # --string-data: one row`},
		{"-m m --string-data 1 -z", texts, `data: {generate: {A: zero, "T:0": "1", U: "1"}, count: 1}  # -z, --string-data`},
		{"-m m --string-data random", texts, `"T:0": {one_of: [random]}`},
		{"-m m --string-data zero --string-length 4", texts, "Not needed: --string-length"},
		{"-m m --string-data zero", nil, "No equal: --string-data: a plan names the input: data: {generate: {INPUT: {one_of: [zero]}}}"},
		{"-m m --string-data x", numbers, "Not needed: --string-data: no input of the model holds texts"},
		{"-m m --string-data x", numbers, "data: {generate: random, count: 1}"},
		{"-m m --string-data x --input-data inputs.json", texts, "Not needed: --string-data: the data comes from files"},
	} {
		out, diags := convert.PerfAnalyzer(convert.Options{Args: strings.Fields(c.line), Model: c.model})
		if diags.HasErrors() {
			t.Fatal(c.line, diags)
		}
		want, not := strings.CutPrefix(c.want, "!")
		if strings.Contains(out.Plan, want) == not {
			t.Errorf("%s, %+v: %q\n%s", c.line, c.model, c.want, out.Plan)
		}
		valid(t, out.Plan)
	}
}

// A model that keeps sequences takes no batches.
func TestModelWithBatches(t *testing.T) {
	line := strings.Fields("-m m -b 2")
	_, diags := convert.PerfAnalyzer(convert.Options{Args: line, Model: &convert.Model{Sequences: true}})
	if len(diags) != 1 || !strings.Contains(diags[0].Summary, "-b does not go with a model that keeps sequences") {
		t.Error(diags)
	}
	if _, diags := convert.PerfAnalyzer(convert.Options{Args: line, Model: &convert.Model{}}); len(diags) > 0 {
		t.Error(diags)
	}
}

// Data is read only where its rows decide about the plan, and never what is no file: a pipe without
// a writer would hold up the conversion.
func TestDataIsReadWhereItDecides(t *testing.T) {
	write(t)
	if err := syscall.Mkfifo("pipe", 0o600); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"-m m --input-data inputs.json",
		"-m m --input-data inputs.json --num-of-sequences 2 --request-rate-range 5",
		"-m m --input-data inputs.json --sequence-length 2",
		"-m m --input-data pipe",
		"-m m --input-data pipe --num-of-sequences 2 --request-rate-range 5",
	} {
		out, diags := convert.PerfAnalyzer(convert.Options{Args: strings.Fields(line)})
		if diags.HasErrors() || out.Plan == "" {
			t.Errorf("%s: %v", line, diags)
		}
	}
}
