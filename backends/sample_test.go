package backends

import (
	"reflect"
	"testing"
	"unsafe"
)

// TestCount: an unknown number differs from 0, and an event stays small.
func TestCount(t *testing.T) {
	for n, want := range map[int64]int64{0: 0, 7: 7, 1 << 40: 1<<31 - 2} {
		if got, ok := CountOf(n).Get(); got != want || !ok {
			t.Errorf("CountOf(%d) is %d, %t", n, got, ok)
		}
	}
	for _, c := range []Count{0, CountOf(-1), CountOf(-1 << 40)} {
		if n, ok := c.Get(); ok {
			t.Errorf("%d is known as %d", c, n)
		}
	}
	if size := unsafe.Sizeof(Event{}); size != 16 {
		t.Errorf("an event has %d bytes", size)
	}
}

// TestReset: no field of a sample stays from one request to the next, and the buffers do.
func TestReset(t *testing.T) {
	var s Sample
	whole := reflect.ValueOf(&s).Elem()
	for _, f := range reflect.VisibleFields(whole.Type()) {
		if f.Anonymous || f.Name == "_" {
			continue
		}
		v := whole.FieldByIndex(f.Index)
		switch {
		case v.CanInt():
			v.SetInt(1)
		case v.CanUint():
			v.SetUint(1)
		case v.Kind() == reflect.Slice:
			v.Set(reflect.MakeSlice(v.Type(), 1, 4))
		default:
			t.Fatalf("%s: set one of these", f.Name)
		}
		s.Reset()
		if v.Kind() == reflect.Slice && (v.Len() != 0 || v.Cap() != 4) {
			t.Errorf("%s has length %d, capacity %d after Reset", f.Name, v.Len(), v.Cap())
		}
		if v.Kind() != reflect.Slice && !v.IsZero() {
			t.Errorf("%s is %v after Reset", f.Name, v)
		}
	}
}

// TestLines: what each request writes lies in the first two lines of the cache, and samples of a slice share
// none.
func TestLines(t *testing.T) {
	const line = 64
	var s Sample
	if got := unsafe.Offsetof(s.Events); got != 2*line {
		t.Errorf("the fields of all requests take %d bytes, not %d", got, 2*line)
	}
	if got := unsafe.Sizeof(s); got%line != 0 {
		t.Errorf("a sample has %d bytes", got)
	}
}

// TestOverdue: a request that we waited too long for says how far it had come.
func TestOverdue(t *testing.T) {
	for _, c := range []struct {
		why    Cause
		sample Sample
		class  ErrorClass
		note   string
	}{
		{CauseTimeout, Sample{}, TimedOut, "the request could not be sent within the timeout"},
		{CauseTimeout, Sample{SendEnd: 5}, TimedOut, "no byte of a reply came within the timeout"},
		{
			CauseTimeout,
			Sample{SendEnd: 5, BytesReceived: 17},
			TimedOut,
			"the reply did not end within the timeout, of which 17 bytes came",
		},
		{
			CauseTimeout,
			Sample{SendEnd: 5, BytesReceived: 99, Responses: 1, Events: make([]Event, 1)},
			TimedOut,
			"the reply did not end within the timeout, of which 99 bytes came, with responses: 1",
		},
		{CauseInactivity, Sample{SendEnd: 5}, TimedOut, "nothing came within the inactivity_timeout"},
		{
			CauseInactivity,
			Sample{SendEnd: 5, Responses: 3},
			TimedOut,
			"no final flag came: after 3 responses nothing came within the inactivity_timeout",
		},
		{CauseStop, Sample{SendEnd: 5}, Stopped, ""},
	} {
		s := &c.sample
		s.SetCancelled(c.why, 9, s.SendEnd != 0)
		if s.Class != c.class || string(s.Note) != c.note || s.LastByte != 9 {
			t.Errorf("%v %+v: class %v, note %q, want %v, %q", c.why, c.sample, s.Class, s.Note, c.class, c.note)
		}
		note := testing.AllocsPerRun(10, func() { s.SetCancelled(c.why, 9, s.SendEnd != 0) })
		if note != 0 {
			t.Errorf("%s: %v allocations", c.note, note)
		}
	}
}
