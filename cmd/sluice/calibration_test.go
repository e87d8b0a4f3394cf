package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/executor/calibration"
)

// bench is an app that keeps its calibration at file.
func bench(file string) *app {
	return &app{
		out: &errorWriter{w: new(bytes.Buffer)}, err: new(bytes.Buffer),
		env: func(name string) (string, bool) { return file, name == calibrationVariable },
	}
}

// kept is a calibration of this machine.
func kept() *calibration.Calibration {
	return &calibration.Calibration{
		Version: calibration.Version, Machine: thisMachine(),
		Transports: map[string]calibration.Transport{"http": {Rate: 4000, Slots: 16, Highest: 9000}},
	}
}

// TestMachine: only a calibration of this machine is used; another one is reported, a missing one
// is not.
func TestMachine(t *testing.T) {
	for _, row := range []struct {
		name   string
		change func(c *calibration.Calibration)
		text   string // of the file instead
		other  string
		shown  bool
	}{
		{"this machine's", func(*calibration.Calibration) {}, "", "", true},
		{
			"another CPU", func(c *calibration.Calibration) { c.Machine.CPUModel = "Z80" }, "",
			"it was made on another machine (Z80", false,
		},
		{
			"another CPU, unknown", func(c *calibration.Calibration) { c.Machine.CPUModel = "" }, "",
			"it was made on another machine (unknown CPU", false,
		},
		{
			"other cores", func(c *calibration.Calibration) { c.Machine.CPUs += 6 }, "",
			"cores, and this process may use", false,
		},
		{"another kernel", func(c *calibration.Calibration) { c.Machine.Kernel = "1.0" }, "", "under kernel 1.0", false},
		{
			"another version", func(c *calibration.Calibration) { c.Version = 9 }, "",
			"has version 9, this program reads 1", false,
		},
		{"not JSON", nil, "{", "is not a calibration", false},
		{"other JSON", nil, "[]", "is not a calibration", false},
		{
			"below zero", func(c *calibration.Calibration) { c.Transports["http"] = calibration.Transport{Rate: -1} }, "",
			"numbers below zero", false,
		},
	} {
		file := filepath.Join(t.TempDir(), "deep", "c.json")
		if row.change != nil {
			c := kept()
			row.change(c)
			if err := c.Write(file); err != nil {
				t.Fatal(err)
			}
		} else if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		} else if err := os.WriteFile(file, []byte(row.text), 0o600); err != nil {
			t.Fatal(err)
		}
		m := bench(file).machine()
		if m == nil || (len(m.Shown) > 0) != row.shown || !strings.Contains(m.Other, row.other) ||
			(m.Other == "") != (row.other == "") {
			t.Errorf("%s: %+v", row.name, m)
		}
	}
	if m := bench(filepath.Join(t.TempDir(), "none.json")).machine(); m != nil {
		t.Errorf("no calibration: %+v", m)
	}
	if m := bench(t.TempDir()).machine(); m == nil ||
		!strings.Contains(m.Other, "it is a folder, not a file") {
		t.Errorf("a folder: %+v", m)
	}
}

// TestCalibrationPlans: the plans are right at either pace, and the rates reach where they should.
func TestCalibrationPlans(t *testing.T) {
	for _, quick := range []bool{true, false} {
		for _, text := range []string{
			closedPlan("http", paceFor(quick)),
			openPlan("grpc", paceFor(quick), paceFor(quick).from),
			openPlan("http", paceFor(quick), 150_000.5),
		} {
			file := filepath.Join(t.TempDir(), "p.yaml")
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			compiled, diags := bench("").load(file, overrides{})
			if compiled == nil || len(diags) > 0 {
				t.Errorf("%s\n%v", text, diags)
			}
		}
	}
}
