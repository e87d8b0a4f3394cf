package backendtest

import (
	"testing"

	"github.com/sluice-bench/sluice/backends"
)

// checkFields expects a field that no reply has: a backend that can compare replies fails such a request, or
// refuses to prepare it. One that passed it over would pass every check of a plan.
func checkFields(t testing.TB, s Suite) {
	b := newBench(t, &s, None)
	target := s.Target
	target.URL = b.server.URL
	if s.Kind.Abilities == nil || s.Kind.Abilities(target)&backends.Expects == 0 {
		return
	}
	r := s.Request
	r.Expect = &backends.Expect{Fields: []backends.Field{{Path: "no_such_field", Want: int64(1)}}}
	call, err := b.conn.Prepare(r)
	if err != nil {
		return
	}
	sample := b.player(serial).do(call)
	if sample.Class != backends.Mismatch && sample.Class != backends.Decode {
		t.Errorf("a field that the reply lacks: class %v, note %q; want mismatch, decode, or an error of Prepare",
			sample.Class, sample.Note)
	}
}
