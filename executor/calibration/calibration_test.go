package calibration

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/executor/stats"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// kept is a calibration of a machine.
func kept() *Calibration {
	return &Calibration{
		Version: Version, Measured: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		Machine: Machine{CPUModel: "Z80", CPUs: 1, Kernel: "CP/M"},
		Transports: map[string]Transport{"http": {
			Rate: 4000, Slots: 16, Highest: 9000,
			Closed: []ClosedRow{{Slots: 16, Rate: 9000, CPUPerRequest: 1.5e-5, CPUShare: 0.31}},
		}},
	}
}

// TestWrite: what is kept is read again, belongs to the user alone, and leaves nothing
// else behind.
func TestWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "sluice")
	file := filepath.Join(dir, "calibration.json")
	for range 2 { // over an older one
		if err := kept().Write(file); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	c, err := Read(file)
	if diff := cmp.Diff(kept(), c); err != nil || diff != "" {
		t.Errorf("%v, %s", err, diff)
	}
	if list, _ := os.ReadDir(dir); len(list) != 1 {
		t.Errorf("left behind: %v", list)
	}
	blocked := filepath.Join(file, "x.json")
	if err := kept().Write(blocked); err == nil || !strings.Contains(err.Error(), "write the calibration") {
		t.Errorf("below a file: %v", err)
	}
	if _, err := os.Stat(blocked); err == nil {
		t.Error("it is there")
	}
}

// level is a node of an open loop that went out with one own send delay.
func level(rate, answered float64, delay time.Duration, errors float64, ok bool) *result.Node {
	c, _ := metric.New()
	row := func(name string) *metric.Row { r, _ := c.Row(name); return r }
	d := new(stats.Dist)
	if delay >= 0 {
		for range 400 {
			d.Add(int64(delay))
		}
	}
	return &result.Node{
		Load: result.Load{Value: rate}, Validity: result.Validity{OK: ok}, Outcome: result.Done,
		Metrics: map[string]*result.Metric{
			metric.RequestsRate:    result.Scalar(row(metric.RequestsRate), answered, true),
			metric.OfferedRate:     result.Scalar(row(metric.OfferedRate), rate, true),
			metric.ErrorsCount:     result.Scalar(row(metric.ErrorsCount), errors, true),
			metric.ClientCPU:       result.Scalar(row(metric.ClientCPU), 0.25, true),
			metric.SendDelayClient: result.Distribution(row(metric.SendDelayClient), d, []float64{99}),
		},
	}
}

// TestOnTime: a rate counts when it went out on time, was answered, and the measurement can be trusted.
func TestOnTime(t *testing.T) {
	busy := level(1000, 1000, 3*time.Millisecond, 0, false)
	busy.Validity.Findings = []result.Finding{{Code: result.BusyMachine}}
	skipped := level(9000, 9000, 0, 0, true)
	skipped.Outcome = result.SkippedNode
	for _, row := range []struct {
		name string
		node *result.Node
		why  string
		rate float64
		rows int
	}{
		{"on time", level(1000, 1000, 50*time.Microsecond, 0, true), "", 1000, 1},
		{"late", level(1000, 1000, 3*time.Millisecond, 0, false), "late", 0, 1},
		{"late because of others", busy, "late, other programs had the CPU", 0, 1},
		{"at the limit", level(1000, 1000, time.Millisecond, 0, true), "late", 0, 1},
		{"errors", level(1000, 1000, 0, 2, true), "errors", 0, 1},
		{"not answered", level(1000, 800, 0, 0, true), "the embedded server cannot keep up", 0, 1},
		{"not valid", level(1000, 1000, 0, 0, false), "not valid", 0, 1},
		{"nothing sent", level(1000, 0, -1, 0, true), "nothing was sent", 0, 1},
		{"skipped", skipped, "", 0, 0},
	} {
		var shown Transport
		shown.AddOpen(row.node)
		if len(shown.Open) != row.rows || shown.Rate != row.rate || row.rows > 0 &&
			(shown.Open[0].Why != row.why || shown.Open[0].OnTime != (row.why == "")) {
			t.Errorf("%s: %+v", row.name, shown)
		}
	}
}

func TestTables(t *testing.T) {
	c := kept()
	p99, late := 42e-6, 3e-3
	shown := c.Transports["http"]
	shown.Open = []OpenRow{
		{Rate: 4000, Answered: 3999, DelayP99: &p99, CPUShare: 0.1, OnTime: true},
		{Rate: 16000, Answered: 15000, DelayP99: &late, CPUShare: 0.5, Why: "late"},
		{Rate: 64000, Why: "nothing was sent"},
	}
	c.Transports["http"] = shown
	want := `Z80, 1 core, kernel CP/M

http, closed loop
  slots  requests/s  CPU per request  CPU used
     16      9000/s            15 µs      31 %

http, open loop
     rate  answered  own send delay p99  CPU used               on time
   4000/s    3999/s               42 µs      10 %                   yes
  16000/s   15000/s                3 ms      50 %              no: late
  64000/s       0/s                   –       0 %  no: nothing was sent

http: sends up to 4000/s on time, up to 9000/s in a closed loop, 16 in flight
`
	if diff := cmp.Diff(want, c.Tables()); diff != "" {
		t.Error(diff)
	}
}

// FuzzCalibration: no file makes the reader panic, and what it takes can be used.
func FuzzCalibration(f *testing.F) {
	data, _ := json.Marshal(kept())
	f.Add(data)
	f.Add([]byte(`{"version":1,"transports":{"http":null}}`))
	f.Add([]byte(`{"version":1e9}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := parse("f", data)
		if err == nil && c.Tables() == "" {
			t.Error("no tables")
		}
	})
}
