package feed

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/tensor"
	"github.com/sluice-bench/sluice/scenario"
)

// TestTooMuch: data that does not fit in memory is refused before it is made: at once, and without
// taking the memory.
func TestTooMuch(t *testing.T) {
	big := filepath.Join(t.TempDir(), "big.bin")
	f, err := os.Create(big)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(3 << 30); err != nil { // a hole: it takes no place on the disk
		t.Fatal(err)
	}
	f.Close()
	fp32, text := port("x", tensor.FP32, -1), port("x", tensor.Bytes, -1)
	file := func(name string) *scenario.Dataset {
		return &scenario.Dataset{
			Name: "main", Source: "file", Files: []scenario.Path{{Name: name}}, Order: "sequential", AtEnd: "repeat",
		}
	}
	for _, c := range []struct {
		name  string
		d     *scenario.Dataset
		port  backends.Port
		dim   int64
		batch int
	}{
		{"one row of 4 GiB", generated(&scenario.Generate{Default: "random"}, 1), fp32, 1 << 30, 1},
		{"4096 rows of 1 MiB", generated(&scenario.Generate{Default: "zero"}, 4096), fp32, 1 << 18, 1},
		{"strings", generated(&scenario.Generate{Default: "random"}, 1), text, 1 << 30, 1},
		{"a dimension beyond all memory", generated(&scenario.Generate{Default: "random"}, 1), fp32, 1 << 40, 1},
		{
			"100 rows of 1 MiB in batches of 63", generated(&scenario.Generate{Default: "zero"}, 100), fp32, 1 << 18,
			63,
		},
		{
			"a file of 3 GiB as a tensor",
			generated(&scenario.Generate{Inputs: []scenario.Generator{{Input: "x", File: &scenario.Path{Name: big}}}},
				16),
			fp32, 3 << 28, 1,
		},
		{"a file of 3 GiB as rows", file(big), fp32, 1, 1},
		{"a device", file("/dev/zero"), fp32, 1, 1},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		began := time.Now()
		r := &scenario.Request{Batch: c.batch, Shapes: []scenario.Shape{{Input: "x", Dims: []int64{c.dim}}}}
		_, diags := Build(c.d, r, signature(true, 64, c.port), 1)
		runtime.ReadMemStats(&after)
		if len(diags) == 0 ||
			!strings.Contains(diags[0].Summary, "GiB") && !strings.Contains(diags[0].Summary, "can be held") &&
				!strings.Contains(diags[0].Summary, "not a regular file") {
			t.Errorf("%s: %v", c.name, diags)
		}
		// What a refusal takes is the rows it had to see, 100 MiB at most here.
		if took := after.TotalAlloc - before.TotalAlloc; took > 1<<30 {
			t.Errorf("%s: %d MiB were taken in %v before it was refused", c.name, took>>20, time.Since(began))
		}
	}
}

// TestFileOnce: a file that fills a tensor is held once, however many rows have it.
func TestFileOnce(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.bin")
	if err := os.WriteFile(name, make([]byte, 4<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	d := generated(&scenario.Generate{
		Inputs: []scenario.Generator{{Input: "x", File: &scenario.Path{Name: name}}},
	}, 3)
	built, diags := Build(d, &scenario.Request{Batch: 1}, signature(true, 0, port("x", tensor.FP32, -1)), 1)
	if len(diags) > 0 || len(built.Requests) != 3 {
		t.Fatal(len(built.Requests), diags)
	}
	if &built.Requests[0].Inputs[0].Data[0] != &built.Requests[2].Inputs[0].Data[0] {
		t.Error("the rows hold copies of the file")
	}
}

// TestNothingExpected: tolerances for outputs that no row has are no silent pass.
func TestNothingExpected(t *testing.T) {
	sig := signature(true, 0, port("x", tensor.FP32, -1))
	for text, refused := range map[string]bool{
		`{"data":[{"x":[1]}]}`: true, `{"data":[{"x":[1]}],"validation_data":[{"OUT":[1]}]}`: false,
	} {
		_, diags := Build(dataset(t, text),
			&scenario.Request{Batch: 1, Expect: &scenario.Expect{Outputs: true, Relative: 0.1, Sample: 1}}, sig, 1)
		if (len(diags) == 1 && diags[0].Code == "nothing-expected") != refused {
			t.Errorf("%s: %v", text, diags)
		}
	}
	_, diags := Build(files(t, "a.jsonl", `{"body": 1, "outputs": {"a": 2}}`), &scenario.Request{
		Batch: 1, Expect: &scenario.Expect{Outputs: true, Absolute: 0.1, Sample: 1}, Target: &scenario.Target{Name: "main"},
	}, backends.Signature{Bodies: true}, 1)
	if want := "`absolute` compares tensors; values by path are compared exactly"; !diags.HasErrors() ||
		!strings.Contains(diags.Error(), want) {
		t.Errorf("%v, want %s", diags, want)
	}
}

// TestNotAskedFor: an expected output that the plan leaves out is told and not waited for.
func TestNotAskedFor(t *testing.T) {
	d := files(t, "r.json",
		`{"data":[{"a":[1]},{"a":[2]}],"validation_data":[{"o":[1],"p":[2]},{"o":[3],"p":[4]}]}`)
	sig := model(t, 0, "a:INT8[1] -> o:INT8[1] p:INT8[1]")
	for _, c := range []struct {
		asked  string
		expect *scenario.Expect
		want   string
		told   int
	}{
		{"", nil, "a[1]=1 -> o[1]=1 p[1]=2; a[1]=2 -> o[1]=3 p[1]=4", 0},
		{"p", nil, "a[1]=1 -> p[1]=2 [p]; a[1]=2 -> p[1]=4 [p]", 1},
		{"p", &scenario.Expect{Sample: 1}, "a[1]=1 [p]; a[1]=2 [p]", 0},
	} {
		r := &scenario.Request{Batch: 1, Expect: c.expect}
		if c.asked != "" {
			r.Outputs = []scenario.Wanted{{Name: c.asked}}
		}
		built, diags := Build(d, r, sig, 1)
		if got := show(built); got != c.want || diags.HasErrors() || len(diags) != c.told ||
			c.told > 0 && diags[0].Code != codeUnasked {
			t.Errorf("%q %+v: %s, %v; want %s and %d warnings", c.asked, c.expect, got, diags, c.want, c.told)
		}
	}
}
