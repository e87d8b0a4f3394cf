package kserve_test

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/backends"
)

// value is an INT32 tensor of one element.
func value(name string, v int32) backends.Tensor {
	return backends.Tensor{Name: name, Type: backends.Int32, Shape: []int64{1, 1}, Data: binary.LittleEndian.AppendUint32(nil, uint32(v))}
}

// TestSequences plays sequences over every transport against a server that keeps their sums.
func TestSequences(t *testing.T) {
	for name, target := range urls(t) {
		for model, want := range map[string]backends.SequenceKind{"sequence_acc": backends.NumberSequences, "sequence_acc_string": backends.TextSequences} {
			target.Model = model
			c, l := dial(t, target)
			sig, err := c.(backends.Describer).Describe(t.Context(), "")
			if err != nil || sig.Sequence != want {
				t.Errorf("%s: %s: sequences %d, want %d; %v", name, model, sig.Sequence, want, err)
			}
			step := func(f backends.Fields, in, sum int32) *backends.Sample {
				call, err := c.Prepare(backends.Request{
					Inputs: []backends.Tensor{value("INPUT", in)}, Sequence: &backends.Sequence{Text: want == backends.TextSequences},
					Expect: &backends.Expect{Outputs: []backends.Tensor{value("OUTPUT", sum)}},
				})
				if err != nil {
					t.Fatal(err)
				}
				s := &backends.Sample{Gen: 1}
				l.Send(0, call, f, s)
				l.Recv()
				return s
			}
			for _, at := range []struct {
				f       backends.Fields
				in, sum int32
				note    string
			}{
				{f: backends.Fields{Sequence: 1 << 40, Start: true}, in: 5, sum: 5},
				{f: backends.Fields{Sequence: 7, Start: true}, in: 100, sum: 100},
				{f: backends.Fields{Sequence: 1 << 40}, in: -2, sum: 3},
				{f: backends.Fields{Sequence: 7, End: true}, in: 1, sum: 101},
				{f: backends.Fields{Sequence: 1 << 40, End: true}, in: 4, sum: 7},
				{f: backends.Fields{Sequence: 7, Start: true, End: true}, in: 9, sum: 9},
				{f: backends.Fields{Sequence: 7}, in: 9, sum: 9, note: "must specify the START flag"},
			} {
				s := step(at.f, at.in, at.sum)
				switch {
				case at.note == "" && s.Class != backends.OK:
					t.Errorf("%s: %s %+v: %v %s", name, model, at.f, s.Class, s.Note)
				case at.note != "" && (s.Class != backends.Status || !strings.Contains(string(s.Note), at.note)):
					t.Errorf("%s: %s %+v: %v %s", name, model, at.f, s.Class, s.Note)
				}
			}
		}
	}
}
