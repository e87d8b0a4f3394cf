//go:build inprocess

package inprocess

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends"
)

// TestAnswers plays each way in which a server can answer, by one goroutine that sends and
// receives, several times.
func TestAnswers(t *testing.T) {
	for _, row := range []struct {
		script    string
		responses uint32
		class     backends.ErrorClass
		status    int32
		note      string
	}{
		{script: "last", responses: 1},
		{script: "respond 1; final", responses: 1},
		{script: "respond 5; final", responses: 5},
		{script: "respond 5; last", responses: 6},
		{script: "respond 1000; final", responses: 1000},
		{script: "final"}, // a decoupled model may say nothing
		{script: "release; respond 3; final", responses: 3},
		{script: "respond 3; release; final", responses: 3},
		{script: "now; last", responses: 1},
		{script: "now; respond 200; final", responses: 200},
		{script: "now; release; final"},
		{script: "refuse the queue is full", class: backends.Status, status: 14, note: "the queue is full"},
		{script: "error it went wrong", class: backends.Status, status: 13, note: "it went wrong"},
		{
			script: "respond 2; error it went wrong", responses: 2, class: backends.Status, status: 13,
			note: "it went wrong",
		},
		{script: "now; error it went wrong", class: backends.Status, status: 13, note: "it went wrong"},
		{
			script: "broken; respond 2; final", responses: 2, class: backends.Decode,
			note: "the output cannot be read",
		},
	} {
		t.Run(row.script, func(t *testing.T) {
			s := ready(t)
			l := connect(t, s.target(t, row.script))
			call := l.prepare(ask())
			for range 3 {
				got := l.do(call)
				if got.Class != row.class || got.Status != row.status || got.Responses != row.responses ||
					string(got.Note) != row.note {
					t.Errorf("class %v, status %d, %d responses, note %q", got.Class, got.Status, got.Responses, got.Note)
				}
				if bytes := int64(4 * row.responses); row.class != backends.Decode && got.BytesReceived != bytes {
					t.Errorf("%d bytes received, want %d", got.BytesReceived, bytes)
				}
				if got.SendStart == 0 || got.SendEnd < got.SendStart || got.LastByte < got.SendStart {
					t.Errorf("sent %d to %d, last byte %d", got.SendStart, got.SendEnd, got.LastByte)
				}
			}
			l.close()
		})
	}
}

// TestEvents: each response has its time, and a request with many passes through a small buffer.
func TestEvents(t *testing.T) {
	s := ready(t)
	target := s.target(t, "respond 1000; final")
	target.Streaming = true
	l := connect(t, target)
	sample := &backends.Sample{Gen: 1, Events: make([]backends.Event, 0, 64)}
	l.lane.Send(0, l.prepare(ask()), backends.Fields{ID: 1}, sample)
	events, last, parts := 0, int64(0), 0
	take := func() {
		for _, e := range sample.Events {
			if e.At < last {
				t.Errorf("a response at %d after one at %d", e.At, last)
			}
			last = e.At
		}
		events += len(sample.Events)
		sample.Events = sample.Events[:0]
	}
	l.finish(func() { take(); parts++ })
	take()
	if events != 1000 || parts != 15 || sample.Responses != 1000 || sample.LastByte < last ||
		l.lane.Activity(0) < last {
		t.Errorf("%d events in %d parts, %d responses, last byte %d, last event %d",
			events, parts, sample.Responses, sample.LastByte, last)
	}
	l.close()
}

// TestRoom: more answers than a lane has room for, before the function that sends has returned.
func TestRoom(t *testing.T) {
	s := ready(t)
	l := connect(t, s.target(t, "now; respond 3000; final"))
	call := l.prepare(ask())
	for range 3 {
		done := make(chan struct{})
		go func() { defer close(done); l.finish(func() {}) }()
		got := l.send(call)
		<-done
		if got.Class != backends.OK || got.Responses != 3000 {
			t.Errorf("%v %q, %d responses", got.Class, got.Note, got.Responses)
		}
	}
	l.close()
}

// await waits until is reports true.
func await(t *testing.T, what string, is func() bool) {
	t.Helper()
	looks, end := time.NewTicker(100*time.Microsecond), time.After(20*time.Second)
	defer looks.Stop()
	for !is() {
		select {
		case <-looks.C:
		case <-end:
			t.Fatalf("no %s", what)
		}
	}
}

// TestDeaf: a model that ignores a cancel goes on. Its request has ended for the client, its later
// replies block no other request, and the memory that it reads is kept until it ends.
func TestDeaf(t *testing.T) {
	s := ready(t)
	l := connect(t, s.target(t, "gate; respond 2000; final"))
	call := l.prepare(ask())
	for n := range 3 {
		got := l.send(call)
		await(t, "request at the gate", func() bool { return s.atGate() == n+1 })
		l.lane.Cancel(0, got.Gen, backends.CauseTimeout)
		l.finish(func() {})
		if got.Class != backends.TimedOut || got.Flags&backends.Timeout == 0 {
			t.Errorf("%v, flags %b", got.Class, got.Flags)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if err := l.conn.Close(ctx); err == nil ||
		!strings.Contains(err.Error(), "the server still works on 3 requests") {
		t.Errorf("Close: %v", err)
	}
	s.open(true)
	await(t, "end of all requests without a receiver", func() bool { return l.lane.inServer.Load() == 0 })
	l.close()
}

// TestLanesEnd: lanes that are closed, and whose requests are over, are forgotten.
func TestLanesEnd(t *testing.T) {
	s := ready(t)
	l := connect(t, s.target(t, "gate; last"))
	call := l.prepare(ask())
	held := l.lane
	l.send(call)
	await(t, "request at the gate", func() bool { return s.atGate() == 1 })
	for range 50 {
		l.lane = l.another()
		if err := l.lane.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := held.Close(); err != nil {
		t.Error(err)
	}
	l.lane = l.another()
	if n := len(l.conn.lanes); n != 2 {
		t.Errorf("%d lanes are kept, want the one whose request is in the server and the new one", n)
	}
	s.open(true)
	l.close()
	if slot, done := held.Recv(); slot != 0 || !done {
		t.Errorf("slot %d, done %v of the request in flight at Close", slot, done)
	}
}

// TestSendWaitsForNobody: however slow the server is, a pacer can send what is due. What the
// library may have to read first is not sent by it.
func TestSendWaitsForNobody(t *testing.T) {
	s := ready(t)
	l := connect(t, s.target(t, "gate; last"))
	call := l.prepare(ask())
	none, limits, err := l.conn.Lanes(t.Context(), 0, backends.LaneOptions{})
	if err != nil || len(none) != 0 || limits.Inline < call.Size || limits.Inline > 1<<20 {
		t.Errorf("%d bytes are sent by the pacer; %v", limits.Inline, err)
	}
	var lanes []*lane
	for n := range 500 {
		at := l.another()
		lanes = append(lanes, at)
		at.Send(0, call, backends.Fields{ID: uint64(n)}, &backends.Sample{Gen: 1})
	}
	if n := s.count(liveRequests); n != 500 {
		t.Errorf("%d requests in the server", n)
	}
	s.open(true)
	for _, at := range lanes {
		if slot, done := at.Recv(); slot != 0 || !done {
			t.Errorf("slot %d, done %v", slot, done)
		}
	}
	l.close()
}

// TestParameters: every kind reaches the model with its value, and one that it refuses is an error
// of the request.
func TestParameters(t *testing.T) {
	s := ready(t)
	l := connect(t, s.target(t, "last"))
	for _, row := range []struct {
		value any
		note  string
	}{
		{"text", ""},
		{int64(-7), ""},
		{true, ""},
		{0.25, ""},
		{"other", "parameter want is 'other'"},
		{int64(8), "parameter want is 8"},
		{false, "parameter want is false"},
		{0.75, "parameter want is 0.75"},
	} {
		r := ask()
		r.Parameters = []backends.Parameter{
			{Name: "want", Value: row.value}, {Name: "priority", Value: int64(3)}, {Name: "timeout", Value: "250"},
		}
		got := l.do(l.prepare(r))
		if string(got.Note) != row.note || (got.Class == backends.OK) != (row.note == "") {
			t.Errorf("%v: %v %q", row.value, got.Class, got.Note)
		}
	}
	for _, p := range []backends.Parameter{
		{Name: "priority", Value: "high"},
		{Name: "timeout", Value: int64(-1)},
		{Name: "sequence_start", Value: int64(1)},
		{Name: "sequence_id", Value: true},
	} {
		r := ask()
		r.Parameters = []backends.Parameter{p}
		if _, err := l.conn.Prepare(r); err == nil ||
			!strings.Contains(err.Error(), fmt.Sprintf("parameter %s cannot be %v", p.Name, p.Value)) {
			t.Errorf("%s: %v", p.Name, err)
		}
	}
	r := ask()
	r.Outputs = []backends.Output{{Name: "OUTPUT0"}, {Name: "NOSUCH"}}
	if got := l.do(l.prepare(r)); got.Class != backends.Status || got.Status != 3 ||
		!strings.Contains(string(got.Note), "unexpected inference output 'NOSUCH'") {
		t.Errorf("%v %d %q", got.Class, got.Status, got.Note)
	}
	l.close()
}

// TestExpectedStatus: a refusal can be what is wanted.
func TestExpectedStatus(t *testing.T) {
	s := ready(t)
	l := connect(t, s.target(t, "refuse no"))
	r := ask()
	r.Expect = &backends.Expect{Status: []int{14}}
	if got := l.do(l.prepare(r)); got.Class != backends.OK || got.Status != 14 || got.Responses != 1 {
		t.Errorf("%v, status %d, %d responses", got.Class, got.Status, got.Responses)
	}
	l.close()
}

// TestShort: what a response must have is looked at where nothing is expected of it.
func TestShort(t *testing.T) {
	for script, note := range map[string]string{
		"long; last": "an output of the response has another size than its shape takes",
		"bare; last": "the response lacks a requested output",
	} {
		s := ready(t)
		l := connect(t, s.target(t, script))
		r := ask()
		r.Expect, r.Outputs = nil, []backends.Output{{Name: "OUTPUT0"}}
		if got := l.do(l.prepare(r)); got.Class != backends.Decode || string(got.Note) != note {
			t.Errorf("%s: %v %q", script, got.Class, got.Note)
		}
		l.close()
	}
	s := ready(t)
	target := s.target(t, "bare; respond 1; final")
	target.Streaming = true
	l := connect(t, target)
	r := ask()
	r.Expect, r.Outputs = nil, []backends.Output{{Name: "OUTPUT0"}}
	if got := l.do(l.prepare(r)); got.Class != backends.OK {
		t.Errorf("a response of several without outputs: %v %q", got.Class, got.Note)
	}
	l.close()
}

// TestMismatch: values are compared.
func TestMismatch(t *testing.T) {
	s := ready(t)
	l := connect(t, s.target(t, "last"))
	r := ask()
	r.Expect.Outputs = []backends.Tensor{number("OUTPUT0", 8)}
	if got := l.do(l.prepare(r)); got.Class != backends.Mismatch ||
		!strings.Contains(string(got.Note), "OUTPUT0") {
		t.Errorf("%v %q", got.Class, got.Note)
	}
	l.close()
}
