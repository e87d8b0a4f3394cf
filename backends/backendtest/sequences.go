package backendtest

import (
	"context"
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/tensor"
)

// Sequences tests a backend that has sequences: requests of several, one after the other, against a
// model of the embedded server that answers with the sum of each so far and refuses violations of
// the protocol. targets are the server over every transport, without a model.
func Sequences(t *testing.T, kind backends.Kind, targets map[string]backends.Target) {
	for model, want := range map[string]backends.SequenceKind{
		"sequence_acc": backends.NumberSequences, "sequence_acc_string": backends.TextSequences,
	} {
		for name, target := range targets {
			target.Model = model
			t.Run(model+" over "+name, func(t *testing.T) { checkSequences(t, kind, target, want) })
		}
	}
}

// sequenceCase is a request of a sequence, its expected sum, or the server's refusal.
type sequenceCase struct {
	fields  backends.Fields
	in, sum int32
	refused string
}

// steps returns ids of full length, interleaved sequences, a sequence of a single request, a reused
// id, and requests that the server refuses.
func steps() []sequenceCase {
	const long, short = 1<<63 + 1, 7
	return []sequenceCase{
		{fields: backends.Fields{Sequence: long, Start: true}, in: 5, sum: 5},
		{fields: backends.Fields{Sequence: short, Start: true}, in: 100, sum: 100},
		{fields: backends.Fields{Sequence: long}, in: -2, sum: 3},
		{fields: backends.Fields{Sequence: short, End: true}, in: 1, sum: 101},
		{fields: backends.Fields{Sequence: long, End: true}, in: 4, sum: 7},
		{fields: backends.Fields{Sequence: short, Start: true, End: true}, in: 9, sum: 9},
		{fields: backends.Fields{Sequence: short}, refused: "must specify the START flag"},
		{fields: backends.Fields{Sequence: 0, Start: true}, refused: "must specify"},
		{fields: backends.Fields{Sequence: short, Start: true, End: true}, in: 3, sum: 3},
	}
}

func checkSequences(t *testing.T, kind backends.Kind, target backends.Target, want backends.SequenceKind) {
	c, err := kind.Open(t.Context(), target, backends.Clock{Origin: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(context.Background()) }()
	if d, ok := c.(backends.Describer); ok {
		if sig, err := d.Describe(t.Context(), ""); err != nil || sig.Sequence != want {
			t.Errorf("the model keeps sequences of kind %d, want %d; %v", sig.Sequence, want, err)
		}
	}
	lanes, _, err := c.Lanes(t.Context(), 1, backends.LaneOptions{Depth: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lanes[0].Close() }()
	for i, at := range steps() {
		if at.fields.Sequence == 0 && want == backends.TextSequences {
			continue // twenty zeros are a valid string id
		}
		call, err := c.Prepare(backends.Request{
			Inputs:   []backends.Tensor{number("INPUT", at.in)},
			Sequence: &backends.Sequence{Text: want == backends.TextSequences},
			Expect:   &backends.Expect{Outputs: []backends.Tensor{number("OUTPUT", at.sum)}},
		})
		if err != nil {
			t.Fatal(err)
		}
		if !call.Stateful {
			t.Error("a request of a sequence could be sent twice")
		}
		s := &backends.Sample{Gen: uint32(i + 1)}
		lanes[0].Send(0, call, at.fields, s)
		for _, done := lanes[0].Recv(); !done; _, done = lanes[0].Recv() {
		}
		switch {
		case at.refused == "" && s.Class != backends.OK:
			t.Errorf("%+v: %v %s", at.fields, s.Class, s.Note)
		case at.refused != "" &&
			(s.Class != backends.Status && s.Class != backends.Server || !strings.Contains(string(s.Note),
				at.refused)):
			t.Errorf("%+v: %v %s, want %q", at.fields, s.Class, s.Note, at.refused)
		}
	}
}

// number returns an INT32 tensor of one element.
func number(name string, v int32) backends.Tensor {
	return backends.Tensor{
		Name: name, Type: tensor.Int32, Shape: []int64{1, 1},
		Data: binary.LittleEndian.AppendUint32(nil, uint32(v)),
	}
}
