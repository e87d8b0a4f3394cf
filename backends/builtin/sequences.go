package builtin

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"

	pb "github.com/sluice-bench/sluice/backends/builtin/internal/kservepb"
)

// sequenceStep is the position of a request in its sequence.
type sequenceStep struct {
	id         string // "": it belongs to none
	text       bool   // the id was a string
	start, end bool
}

// sequences are the sequences of a model that keeps state: the running sum of each. It checks that
// clients follow the protocol and counts violations; such a request is refused, as by Triton:
//
//	request             sequence   then
//	no id               –          refused
//	START               unknown    it is open
//	START               open       counted as wrong, and it starts again
//	any other           unknown    refused, counted as wrong
//	any other           open       it continues
//	END (with any)      open       it is removed after the request has been answered
//
// When the model is unloaded open sequences are removed with their state. The state changes when a
// request arrives, in the order of arrival, whatever instances do with it later.
type sequences struct {
	corrid string // TYPE_UINT64, TYPE_STRING

	mu     sync.Mutex
	gone   bool // the model is unloaded
	open   map[string]int32
	counts sequenceCounts
}

// sequenceCounts counts sequences since the start or the last reset.
type sequenceCounts struct {
	Begun uint64 `json:"begun"`
	Ended uint64 `json:"ended"`
	Lost  uint64 `json:"lost"` // open when their model was unloaded
	Open  int    `json:"open"`
	Most  int    `json:"most"` // largest number open at the same time
	Wrong uint64 `json:"wrong"`
	Last  string `json:"last_wrong,omitempty"` // description of the latest violation
}

func (c *sequenceCounts) add(s *sequences) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c.Begun += s.counts.Begun
	c.Ended += s.counts.Ended
	c.Lost += s.counts.Lost
	c.Open += len(s.open)
	c.Most = max(c.Most, s.counts.Most)
	c.Wrong += s.counts.Wrong
	if s.counts.Last != "" {
		c.Last = s.counts.Last
	}
}

// reset removes all sequences.
func (s *sequences) reset() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open, s.counts = map[string]int32{}, sequenceCounts{}
}

// load notes that the model is loaded or unloaded.
func (s *sequences) load(loaded bool) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone = !loaded
	if s.gone {
		s.counts.Lost += uint64(len(s.open))
		clear(s.open)
	}
}

// accumulator returns a model that answers with the sum of INPUT over the requests of a sequence so
// far.
func accumulator(name, corrid string) *model {
	return &model{
		name: name, maxBatch: 4, count: 2,
		inputs:    []spec{{"INPUT", typeOf("INT32"), []int64{1}}},
		outputs:   []spec{{"OUTPUT", typeOf("INT32"), []int64{1}}},
		sequences: &sequences{corrid: corrid, open: map[string]int32{}},
		run:       passThrough("OUTPUT"), // the sum was computed when the request arrived
	}
}

// addStep enters a request, and returns its input with the sum of its sequence in place of its
// value.
func (s *sequences) addStep(r *inference, model string, in []tensor) ([]tensor, *failure) {
	q := r.sequence
	id := errorPrefix(r.id)
	switch {
	case q.id == "":
		return nil,
			invalid("%sinference request to model '%s' must specify a non-zero or non-empty correlation ID",
				id, model)
	case q.text != (s.corrid == "TYPE_STRING"):
		return nil,
			invalid("%sinference request to model '%s' must have correlation IDs of %s", id, model, s.corrid)
	case in[0].shape[0] != 1:
		return nil,
			invalid("%sinference request to model '%s' must specify batch-size 1 due to requirements of "+
				"sequence batcher", id, model)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	sum, open := s.open[q.id]
	switch {
	case s.gone: // it was loaded when the request looked it up
		return nil, unknownModel(model)
	case q.start && open:
		s.countWrong("sequence %s began while it was open", q.id)
		sum = 0
	case q.start:
		s.counts.Begun++
	case !open:
		s.countWrong("a request of sequence %s, which is not open", q.id)
		return nil,
			invalid("%sinference request for sequence %s to model '%s' must specify the START flag on the "+
				"first request of the sequence", id, q.id, model)
	}
	sum += int32(binary.LittleEndian.Uint32(in[0].data))
	s.open[q.id] = sum
	s.counts.Most = max(s.counts.Most, len(s.open))
	if q.end {
		delete(s.open, q.id)
		s.counts.Ended++
	}
	out := in[0]
	out.data = binary.LittleEndian.AppendUint32(nil, uint32(sum))
	return []tensor{out}, nil
}

// countWrong counts a violation. The caller holds s.mu.
func (s *sequences) countWrong(format string, a ...any) {
	s.counts.Wrong++
	s.counts.Last = fmt.Sprintf(format, a...)
}

// config returns the part of the configuration that declares that a model keeps sequences.
func (s *sequences) config() object {
	input := func(name, dataType string) object {
		control := object{"kind": "CONTROL_SEQUENCE_" + name, "data_type": dataType}
		return object{"name": name, "control": []object{control}}
	}
	return object{"max_sequence_idle_microseconds": 5_000_000, "control_input": []object{
		input("START", "TYPE_INVALID"), input("END", "TYPE_INVALID"), input("CORRID", s.corrid),
	}}
}

// jsonStep reads the parameters of a request's JSON. The id is a number or a string; 0 and "" mean
// none.
func (r *jsonRequest) jsonStep() (sequenceStep, error) {
	q := sequenceStep{start: r.Parameters.SequenceStart, end: r.Parameters.SequenceEnd}
	raw := r.Parameters.SequenceID
	if len(raw) == 0 {
		return q, nil
	}
	if raw[0] == '"' {
		q.text = true
		return q, json.Unmarshal(raw, &q.id)
	}
	var n uint64
	if err := json.Unmarshal(raw, &n); err != nil {
		return q, invalid("parameter 'sequence_id' is neither a number nor a text: %s", raw)
	}
	q.number(n)
	return q, nil
}

// number sets an id that was a number.
func (q *sequenceStep) number(n uint64) {
	if n != 0 {
		q.id = strconv.FormatUint(n, 10)
	}
}

// messageStep reads the parameters of a gRPC request.
func messageStep(p map[string]*pb.InferParameter) (q sequenceStep, err error) {
	q.start, q.end = p["sequence_start"].GetBoolParam(), p["sequence_end"].GetBoolParam()
	switch id := p["sequence_id"].GetParameterChoice().(type) {
	case nil:
	case *pb.InferParameter_Int64Param:
		q.number(uint64(id.Int64Param))
	case *pb.InferParameter_StringParam:
		q.id, q.text = id.StringParam, true
	default:
		return q, invalid("parameter 'sequence_id' is neither a number nor a text")
	}
	return q, nil
}
