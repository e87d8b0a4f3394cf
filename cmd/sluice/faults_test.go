package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-bench/sluice/backends/backendtest"
	"github.com/sluice-bench/sluice/backends/backendtest/cases"
	"github.com/sluice-bench/sluice/backends/builtin"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/schema"
)

func discard() *log.Logger { return log.New(io.Discard, "", 0) }

// way is one in which requests go out, by what a plan says of it.
type way struct{ name, protocol, target, data, stage string }

var ways = []way{
	{"unary", "http", "model: simple", "INPUT0: 5, INPUT1: 2", "load: {concurrency: 3}, for: SPAN"},
	{"unary", "grpc", "model: simple", "INPUT0: 5, INPUT1: 2", "load: {concurrency: 3}, for: SPAN"},
	{
		"stream", "grpc", "model: repeat_decoupled, streaming: true, inactivity_timeout: 2s",
		"IN: 1, DELAY: 1, WAIT: 0", "load: {concurrency: 3}, for: SPAN, shapes: {IN: [2], DELAY: [2]}",
	},
	{
		"sequences", "http", "model: sequence_acc", "INPUT: 1",
		"load: {concurrency: 3}, for: SPAN, sequences: {length: 6}",
	},
	{
		"sequences", "grpc", "model: sequence_acc", "INPUT: 1",
		"load: {concurrency: 3}, for: SPAN, sequences: {length: 6}",
	},
	{
		"memory", "http", "model: simple", "INPUT0: 5, INPUT1: 2",
		"load: {concurrency: 3}, for: SPAN, shared_memory: system",
	},
	{
		"memory", "grpc", "model: simple", "INPUT0: 5, INPUT1: 2",
		"load: {concurrency: 3}, for: SPAN, shared_memory: system",
	},
}

const faultPlan = `
version: 1
target: {backend: triton, url: "URL", connect_timeout: 1s, TARGET}
data: {generate: {DATA}}
stages: [{id: s, drain: 5s, STAGE}]
output: {formats: [json, csv, junit, markdown, perf_analyzer_csv, profile_export], samples: csv}
`

// fault is something that goes wrong from the tenth reply on.
type fault struct {
	name    string
	of      string // ways that it can befall, by name and protocol; empty: all
	span    string
	code    int
	classes []string // that requests may end with; none: all are answered well
	finding string   // that must be there
	set     func(m *middle, s *serving)
}

const onset = 10

// every third reply is spoiled from the onset on.
func third(spoil func([]byte) ([]byte, error)) func(*middle, *serving) {
	return func(m *middle, _ *serving) {
		m.spoil = func(n int64, body []byte) ([]byte, error) {
			if n < onset || n%3 != 0 {
				return body, nil
			}
			return spoil(body)
		}
	}
}

// faults and what they come to. Nothing is expected of replies: they are wrong by themselves.
var faults = []fault{
	{
		name: "server killed", span: "2s", code: 1, classes: []string{"dial", "reset", "write"},
		set: func(_ *middle, s *serving) {
			go s.killAfter(onset)
		},
	},
	{
		name: "region missing", of: "memory http, memory grpc", span: "60 requests", code: 1,
		classes: []string{"status"}, set: func(m *middle, s *serving) {
			m.seen = func(n int64) {
				if n == onset {
					s.post("/v2/systemsharedmemory/unregister")
				}
			}
		},
	},
	{
		name: "statistics refused", span: "60 requests", code: 0, finding: "no-statistics",
		set: func(m *middle, _ *serving) {
			m.refuse = func(n int64) bool { return n > 1 }
		},
	},
	{
		name: "reply cut", span: "60 requests", code: 1, classes: []string{"reset", "protocol"},
		set: third(func(b []byte) ([]byte, error) {
			return b[:len(b)/2], errCut
		}),
	},
	{
		name: "reply of half the bytes", span: "60 requests", code: 1,
		classes: []string{"decode", "protocol"}, set: third(func(b []byte) ([]byte, error) {
			return b[:len(b)/2], nil
		}),
	},
	{
		name: "JSON broken", of: "unary http, sequences http, memory http", span: "60 requests",
		code: 1, classes: []string{"decode"}, set: third(func(b []byte) ([]byte, error) {
			return bytes.Replace(b, []byte(`"outputs":[`), []byte(`"outputs":{`), 1), nil
		}),
	},
	{
		name: "reply empty", span: "60 requests", code: 1, classes: []string{"decode", "mismatch"},
		set: third(func([]byte) ([]byte, error) {
			return nil, nil
		}),
	},
	{
		name: "another reply", span: "60 requests", code: 1, classes: []string{"decode"},
		set: third(func(b []byte) ([]byte, error) {
			if b[0] == '{' {
				return []byte(`{"status":"fine"}`), nil
			}
			return []byte("\x08\x01"), nil // field 1 is a number
		}),
	},
	{
		name: "tensor of a wrong size", of: "unary http, sequences http", span: "60 requests", code: 1,
		classes: []string{"decode"}, set: third(shrunk),
	},
}

// shrunk takes two bytes from the last tensor of a reply.
func shrunk(b []byte) ([]byte, error) { return b[:len(b)-2], nil }

// serving is the embedded server as a process of its own.
type serving struct {
	builtin.URLs
	kill func()
	post func(path string)
}

// child starts one.
func child(t *testing.T) *serving {
	t.Helper()
	exe, err := exec.LookPath("sluice")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "serve", "--child")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	s := &serving{kill: func() { _ = cmd.Process.Kill() }}
	if err := json.NewEncoder(in).Encode(builtin.Config{
		HTTP: backendtest.Loopback(),
		GRPC: backendtest.Loopback(),
	}); err != nil {
		t.Fatal(err)
	}
	if err := json.NewDecoder(out).Decode(&s.URLs); err != nil {
		t.Fatal(err)
	}
	s.post = func(path string) { // again while the server says that what it is about is in use
		for range 10_000 {
			r, err := http.Post(s.HTTP+path, "application/json", nil)
			if err != nil {
				return
			}
			_ = r.Body.Close()
			if r.StatusCode == http.StatusOK {
				return
			}
		}
	}
	return s
}

// killAfter kills the server after a number of requests.
func (s *serving) killAfter(requests int) {
	for {
		reply, err := http.Get(s.Control + "/sim/count")
		if err != nil {
			return
		}
		var page struct{ Arrivals int }
		err = json.NewDecoder(reply.Body).Decode(&page)
		_ = reply.Body.Close()
		if err != nil || page.Arrivals >= requests {
			s.kill()
			return
		}
	}
}

// TestFaults: whatever a server does in the middle of a run, requests end in the class that says
// so, every artifact is whole, and nothing is left: no name in /dev/shm, no region, no open
// sequence.
func TestFaults(t *testing.T) {
	t.Parallel()
	for i, f := range faults {
		befalls := slices.DeleteFunc(slices.Clone(ways), func(w way) bool {
			return f.of != "" && !strings.Contains(f.of, w.name+" "+w.protocol)
		})
		for j, w := range befalls {
			if !cases.Runs(j-i%len(befalls), 3) { // each fault has another first way
				continue
			}
			t.Run(f.name+"/"+w.name+" "+w.protocol, func(t *testing.T) {
				t.Parallel()
				s, m := child(t), &middle{}
				f.set(m, s)
				between(t, s.URLs, m)
				at := m.over(w.protocol)
				if m.spoil == nil && m.refuse == nil && m.seen == nil {
					at = map[string]string{"http": s.HTTP, "grpc": s.GRPC}[w.protocol]
				}
				plan := strings.NewReplacer("URL", at, "TARGET", w.target, "DATA", w.data, "STAGE",
					w.stage).Replace(faultPlan)
				dir := t.TempDir()
				pid := sluice(t, dir, strings.ReplaceAll(plan, "SPAN", f.span), f.code)
				checkFault(t, f, dir)
				if names, err := filepath.Glob(fmt.Sprintf("/dev/shm/sluice-%d-*",
					pid)); err != nil || len(names) > 0 {
					t.Errorf("left in shared memory: %v, %v", names, err)
				}
				if f.name != "server killed" {
					// one that ends a sequence may have to be sent again
					checkServer(t, s, f.name != "reply cut")
				}
			})
		}
	}
}

// sluice runs a plan in a folder, wants one of the exit codes and gives the id of the process.
func sluice(t *testing.T, dir, plan string, codes ...int) (pid int) {
	t.Helper()
	exe, err := exec.LookPath("sluice")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "plan.yaml")
	if err := os.WriteFile(file, []byte(plan), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "run", file, "--out", filepath.Join(dir, "out"))
	var printed bytes.Buffer
	cmd.Stdout, cmd.Stderr = &printed, &printed
	began := time.Now()
	if err := cmd.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatal(err)
	}
	t.Logf("%v\n%s", time.Since(began), printed.String())
	if got := cmd.ProcessState.ExitCode(); !slices.Contains(codes, got) {
		t.Errorf("exit code %d, want %v", got, codes)
	}
	return cmd.Process.Pid
}

// checkFault holds a run's artifacts against what the fault must come to, and against each other.
func checkFault(t *testing.T, f fault, dir string) {
	t.Helper()
	files := readFiles(t, filepath.Join(dir, "out"))
	if err := schema.ValidateResult(files["result.json"]); err != nil {
		t.Error(err)
	}
	r, err := result.Read(bytes.NewReader(files["result.json"]))
	if err != nil {
		t.Fatal(err)
	}
	n := r.Nodes[0]
	var failed int64
	for _, e := range n.Errors {
		failed += e.Count
		if !slices.Contains(f.classes, e.Class) {
			t.Errorf("class %s: %+v", e.Class, e)
		}
	}
	if r.State != result.StateDone || n.Outcome != result.Done && n.Outcome != result.Invalid ||
		(failed == 0) != (len(f.classes) == 0) || *n.Metrics["latency"].Count == 0 {
		t.Errorf("state %s, %s, %d failed, %d answered", r.State, n.Outcome, failed,
			*n.Metrics["latency"].Count)
	}
	if !slices.ContainsFunc(n.Validity.Findings,
		func(x result.Finding) bool { return f.finding == "" || x.Code == f.finding }) && f.finding != "" {
		t.Errorf("no finding %s in %+v", f.finding, n.Validity.Findings)
	}
	checkSamples(t, files["samples.csv"], n)
	checkFiles(t, files, 1, int(*n.Metrics["latency"].Count))
}

// readFiles reads the files of faultPlan's formats, all of which must be there.
func readFiles(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for _, name := range []string{
		"result.json", "stages.csv", "junit.xml", "summary.md",
		"perf_analyzer.csv", "profile_export.json", "samples.csv",
	} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || len(data) == 0 {
			t.Fatalf("%s: %d bytes, %v", name, len(data), err)
		}
		files[name] = data
	}
	return files
}

// checkSamples: the requests that were due in hold have in samples.csv the classes that the result
// counts.
func checkSamples(t *testing.T, data []byte, n *result.Node) {
	t.Helper()
	rows, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil || len(rows) == 0 {
		t.Fatalf("samples.csv: %d rows, %v", len(rows), err)
	}
	class, flags := slices.Index(rows[0], "class"), slices.Index(rows[0], "flags")
	got, want := map[string]int64{}, map[string]int64{}
	if ok := *n.Metrics["latency"].Count; ok > 0 {
		want["ok"] = ok
	}
	for _, row := range rows[1:] {
		if !strings.Contains(row[flags], "closing") && !strings.Contains(row[flags], "incomplete") {
			got[row[class]]++
		}
	}
	for _, e := range n.Errors {
		want[e.Class] += e.Count
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("samples.csv by class: %s", diff)
	}
}

// checkFiles: the other files are whole, of one node that was measured, or 0 where it could not be
// set up, with the number of requests that were answered.
func checkFiles(t *testing.T, files map[string][]byte, measured, answered int) {
	t.Helper()
	for name, want := range map[string]int{"stages.csv": 2, "perf_analyzer.csv": 1 + measured} {
		if rows, err := csv.NewReader(bytes.NewReader(files[name])).ReadAll(); err != nil ||
			len(rows) != want {
			t.Errorf("%s: %d rows, %v", name, len(rows), err)
		}
	}
	var suites struct {
		Cases []struct {
			Name string `xml:"name,attr"`
		} `xml:"testsuite>testcase"`
	}
	if err := xml.Unmarshal(files["junit.xml"], &suites); err != nil || len(suites.Cases) == 0 {
		t.Errorf("junit.xml: %d cases, %v", len(suites.Cases), err)
	}
	var export struct {
		Experiments []struct{ Requests []any }
	}
	if err := json.Unmarshal(files["profile_export.json"], &export); err != nil ||
		len(export.Experiments) != measured || measured > 0 &&
		len(export.Experiments[0].Requests) != answered {
		t.Errorf("profile_export.json: %d experiments, %v; %d requests were answered",
			len(export.Experiments), err, answered)
	}
}

// checkServer: nothing of the run is left on the server, and with kept no rule of sequences was broken.
func checkServer(t *testing.T, s *serving, kept bool) {
	t.Helper()
	var page struct {
		Sequences struct{ Begun, Open, Wrong int }
	}
	var regions []any
	for path, into := range map[string]any{"/sim/count": &page, "/v2/systemsharedmemory/status": &regions} {
		reply, err := http.Get(s.HTTP + path)
		if err != nil {
			t.Fatal(err)
		}
		err = json.NewDecoder(reply.Body).Decode(into)
		_ = reply.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
	}
	if page.Sequences.Open != 0 || kept && page.Sequences.Wrong != 0 || len(regions) > 0 {
		t.Errorf("left on the server: %+v, regions %v", page.Sequences, regions)
	}
}
