package llm

import (
	"bytes"
	"flag"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the expected figures")

// figures reads the runs that the expected figures show.
func figures(t *testing.T) []*Run {
	t.Helper()
	runs, err := ReadAll([]string{"testdata/aiperf", "testdata/genai-perf", "testdata/vllm/vllm_bench.json"})
	if err != nil {
		t.Fatal(err)
	}
	return runs
}

// TestFigures: the five figures of runs of three tools, as they were looked at.
func TestFigures(t *testing.T) {
	runs := figures(t)
	var names []string
	for _, p := range Plots(len(runs)) {
		if missing := p.Missing(runs); missing != nil {
			t.Errorf("%s: no data of %v", p.Title, missing)
		}
		names = append(names, p.FileName())
		file := filepath.Join("testdata/figures", p.FileName()+".svg")
		got := p.SVG(runs)
		if *update {
			if err := os.WriteFile(file, got, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s (-update writes it): %s", file, diff)
		}
	}
	want := []string{ // GenAI-Perf's names
		"time_to_first_token", "request_latency", "distribution_of_input_sequence_lengths_to_output_sequence_lengths",
		"time_to_first_token_vs_input_sequence_lengths", "token-to-token_latency_vs_output_token_position",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
}

// TestFiguresWithoutRequests: an aggregate alone has boxes, and says so elsewhere. Runs without any data are drawn.
func TestFiguresWithoutRequests(t *testing.T) {
	runs, err := ReadAll([]string{"testdata/embeddings/profile_export_genai_perf.json"})
	if err != nil {
		t.Fatal(err)
	}
	runs[0].Requests = nil
	var missing []string
	for _, p := range Plots(1) {
		missing = append(missing, p.Missing(runs)...)
		if text := string(p.SVG(runs)); !strings.HasPrefix(text, "<svg") || strings.Contains(text, "NaN") ||
			strings.Contains(text, "Inf") {
			t.Errorf("%s: %s", p.Title, text)
		}
	}
	if len(missing) != 4 {
		t.Errorf("%d of five figures have no data", len(missing))
	}
	for _, p := range Plots(1) {
		if text := string(p.SVG([]*Run{{Name: "<a&b>"}})); strings.Contains(text, "<a") || strings.Contains(text, "NaN") {
			t.Errorf("%s: %s", p.Title, text)
		}
	}
}

// TestAxes: marks are round, and the values lie between the first and the last.
func TestAxes(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		want      string
	}{
		{0, 10, "0 2 4 6 8 10"},
		{3, 9.7, "0 2 4 6 8 10"},
		{44, 61, "40 45 50 55 60 65"},
		{16, 16, "14 15 16 17 18"},
		{0.0001, 0.0009, "0.0000 0.0002 0.0004 0.0006 0.0008 0.0010"},
		{1, 0, "0.0 0.2 0.4 0.6 0.8 1.0"},
		{0, 0, "-0.6 -0.4 -0.2 0.0 0.2 0.4 0.6"},
	} {
		x := axisOf(c.low, c.high, 0, 100, 5)
		var list []string
		for _, v := range x.marks() {
			list = append(list, x.label(v))
		}
		if got := strings.Join(list, " "); got != c.want {
			t.Errorf("%g to %g: %s, want %s", c.low, c.high, got, c.want)
		}
	}
}

// TestBoxes: quartiles and whiskers of single requests, and of an aggregate.
func TestBoxes(t *testing.T) {
	r := &Run{}
	for _, ms := range []int64{1, 2, 3, 4, 5, 6, 7, 8, 100} {
		q := NewRequest()
		q.Latency = ms * 1e6
		r.Requests = append(r.Requests, q)
	}
	p := Plots(1)[1]
	got, ok := p.boxOf(r)
	if !ok || got.low != 1 || got.q1 != 3 || got.median != 5 || got.q3 != 7 || got.high != 8 ||
		!slices.Equal(got.outside, []float64{100}) {
		t.Errorf("%+v", got)
	}
	got, ok = p.boxOf(&Run{Stats: map[string]Stats{Latency: {"ms", map[string]float64{
		"p50": 5, "p25": 4, "p90": 9, "avg": 6,
	}}}})
	if !ok || got.low != 4 || got.q1 != 4 || got.median != 5 || got.q3 != 5 || got.high != 9 || got.mean != 6 {
		t.Errorf("%+v", got)
	}
}

// TestConfig: what Config writes is read back, GenAI-Perf's own form too; mistakes are named at their places.
func TestConfig(t *testing.T) {
	var want []Figure
	for _, p := range Plots(2) {
		want = append(want, Figure{Plot: p, Paths: []string{"../a", "../b#s[concurrency=1]"}, Names: []string{`x "1": y`}})
	}
	got, diags := ReadConfig("config.yaml", Config(want))
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	got, diags = ReadConfig("config.yaml", []byte(`
plot5:
  title: Token-to-Token Latency vs Output Token Position
  x_metric: token_positions
  y_metric: inter_token_latencies
  x_label: Output Token Position
  y_label: Token-to-Token Latency (ms)
  width: 1200
  height: 700
  type: scatter
  paths:
  - run1/profile_export.json
  output: compare
`))
	if diags.HasErrors() || len(got) != 1 || got[0].Y != plotGaps || got[0].Height != 700 {
		t.Errorf("%v %v", got, diags)
	}
	_, diags = ReadConfig("config.yaml", []byte(`a: {title: T, type: pie, y_metric: request_latencies, paths: [x]}
b: {title: T, type: box, y_metric: latency, paths: [x]}
c: {title: T, type: box, y_metric: request_latencies, width: wide, height: 100, tittle: U}
d: 5
`))
	text := diags.Error()
	for _, want := range []string{
		"config.yaml:1:4", `unknown type "pie"`, `y_metric: unknown metric "latency"`, `width: "wide" is no whole number`,
		`unknown key "tittle"`, "c: paths: no file to draw", "b: its file would be that of a", "d: a figure is a map",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}

// TestPNG: the pixels of a PNG are those of its shapes: the SVG of the same figure was looked at.
func TestPNG(t *testing.T) {
	runs := figures(t)
	for _, p := range Plots(len(runs)) {
		data, err := p.PNG(runs)
		if err != nil {
			t.Fatal(err)
		}
		picture, err := png.Decode(bytes.NewReader(data))
		if err != nil || picture.Bounds() != image.Rect(0, 0, p.Width, p.Height) {
			t.Fatalf("%s: %v", p.Title, err)
		}
		if r, g, b, _ := picture.At(2, 2).RGBA(); r != 0xffff || g != 0xffff || b != 0xffff {
			t.Errorf("%s: its edge is not white", p.Title)
		}
	}
	r := &raster{image.NewRGBA(image.Rect(0, 0, 40, 40))}
	r.rect(0, 0, 40, 40, gray(255), ink{})
	r.rect(10, 10, 20, 20, ink{255, 0, 0, 50}, ink{})
	r.line(0, 5, 40, 5, 2, ink{0, 0, 255, 100})
	r.text(20, 38, 20, centred, false, gray(0), "I")
	for at, want := range map[image.Point]color.RGBA{
		{20, 20}: {255, 128, 128, 255}, {5, 20}: {255, 255, 255, 255}, {20, 4}: {0, 0, 255, 255},
	} {
		if got := r.RGBAAt(at.X, at.Y); got != want {
			t.Errorf("%v: %v, want %v", at, got, want)
		}
	}
	if got := r.RGBAAt(20, 33); got.R > 64 {
		t.Errorf("the letter is %v", got)
	}
}

// TestLetters: strokes lie on the grid, and every letter of the figures has one.
func TestLetters(t *testing.T) {
	all := strokes()
	for letter, form := range all {
		for stroke := range strings.FieldsSeq(form) {
			for k, c := range stroke {
				if limit := [2]rune{'4', '8'}[k%2]; c < '0' || c > limit || len(stroke)%2 != 0 {
					t.Errorf("%q: %s", letter, stroke)
				}
			}
		}
	}
	for c := '!'; c <= '~'; c++ {
		if all[c] == "" {
			t.Errorf("no %q", c)
		}
	}
}
