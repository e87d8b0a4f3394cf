package artifact

import (
	"encoding/csv"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/executor/artifact/clean"
	"github.com/sluice-bench/sluice/executor/result"
)

// TestFormulas: no cell of any CSV is a formula for a spreadsheet; numbers stay what they are.
func TestFormulas(t *testing.T) {
	for text, want := range map[string]string{
		"=cmd|' /C calc'!A0": "'=cmd|' /C calc'!A0", "+1+1": "'+1+1", "-1+1": "'-1+1",
		"@SUM(1)": "'@SUM(1)", "\t=1": "' =1", "\r@x": "' @x", "  =1": "'  =1",
		"＝1": "'＝1", "-1": "-1", "+1.5e-3": "+1.5e-3", "": "", "a=1": "a=1", " x": " x",
		"'=1": "'=1", "-": "'-",
	} {
		if got := clean.Cell(clean.Line(text)); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
		row, err := csv.NewReader(strings.NewReader("x," + string(appendCell(nil, text)) + "\n")).Read()
		if err != nil || row[1] != want {
			t.Errorf("%q in samples.csv is %q, %v, want %q", text, row, err, want)
		}
	}
	n := measure(&result.Node{
		ID: "=1", Stage: "+1", Target: "@x", Reason: "-1+1", Outcome: result.Done,
		Load: result.Load{Kind: "concurrency", Model: "=m", Value: 1},
	}, 1, nil)
	n.Models = []result.Model{{Name: "=calls", Metrics: map[string]*result.Metric{}}}
	r := &result.Result{Schema: result.Schema, Nodes: []*result.Node{n}}
	dir := t.TempDir()
	paths, err := write(dir, r, Options{Formats: stored(), Percentiles: percentiles})
	if err != nil {
		t.Fatal(err)
	}
	inerted := 0
	for _, path := range paths {
		if filepath.Ext(path) != ".csv" {
			continue
		}
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(file).ReadAll()
		if err := errors.Join(err, file.Close()); err != nil {
			t.Fatal(err)
		}
		for _, cell := range slices.Concat(rows...) {
			if strings.HasPrefix(cell, "'") {
				inerted++
			}
			if cell != "" && strings.ContainsRune("=+-@\t\r", rune(cell[0])) {
				if _, err := strconv.ParseFloat(cell, 64); err != nil {
					t.Errorf("%s has the cell %q", filepath.Base(path), cell)
				}
			}
		}
	}
	if inerted < 5 {
		t.Errorf("%d cells have an apostrophe", inerted)
	}
}
