package builtin

import (
	"context"
	"encoding/binary"
	"iter"
	"strings"
	"time"
)

// responseStep is one step of a decoupled model's answer to a request.
type responseStep struct {
	after time.Duration // since the previous step
	act   action
	out   []tensor // for respond
}

type action uint8

const (
	respond action = iota
	fail           // an error instead of the remaining responses
	cutOff         // the connection is reset
	hang           // nothing more is sent, not even the end of the request
)

// wait blocks until the step is due, or ctx is done.
func (s responseStep) wait(ctx context.Context) error {
	if s.act == hang {
		<-ctx.Done()
		return ctx.Err()
	}
	return sleep(ctx, s.after)
}

// decoupled returns the models that answer a request with any number of responses. Names and
// tensors are those of the Triton repository that the same plans run against; the last three
// simulate faults.
//
//	repeat_decoupled   a response for each element of IN, DELAY ms apart, the first after WAIT ms
//	tokens_decoupled   max_tokens words of text_input in turn, the first after 20 ms, the others 5 ms apart
//	repeat_error       as repeat_decoupled, with an error for the last response
//	repeat_break       with a connection reset instead
//	repeat_hang        with all responses, and no end
func decoupled() []*model {
	int32s, uint32s, texts := typeOf("INT32"), typeOf("UINT32"), typeOf("BYTES")
	repeat := func(name string, last action) *model {
		return &model{
			name: name, count: 1, run: func(in []tensor) []tensor { return in },
			inputs: []spec{
				{"IN", int32s, []int64{-1}}, {"DELAY", uint32s, []int64{-1}}, {"WAIT", uint32s, []int64{1}},
			},
			outputs: []spec{{"OUT", int32s, []int64{1}}, {"IDX", uint32s, []int64{1}}},
			moves:   func(in []tensor) iter.Seq[responseStep] { return repeated(in, last) },
		}
	}
	tokens := &model{
		name: "tokens_decoupled", count: 1, run: func(in []tensor) []tensor { return in }, optional: 3,
		inputs: []spec{
			{"text_input", texts, []int64{1}},
			{"max_tokens", int32s, []int64{1}},
			{"stream", typeOf("BOOL"), []int64{1}},
			{"min_length", int32s, []int64{1}}, // there are never fewer than max_tokens
		},
		outputs: []spec{{"text_output", texts, []int64{1}}},
		moves:   words,
	}
	return []*model{
		repeat("repeat_decoupled", respond), tokens,
		repeat("repeat_error", fail), repeat("repeat_break", cutOff), repeat("repeat_hang", hang),
	}
}

// repeated yields one step for each element of in[0].
func repeated(in []tensor, last action) iter.Seq[responseStep] {
	values, delays, wait := in[0].data, in[1].data, in[2].data
	le := binary.LittleEndian
	return func(yield func(responseStep) bool) {
		hold := time.Duration(le.Uint32(wait)) * time.Millisecond
		for i := 0; i < len(values); i += 4 {
			s := responseStep{after: hold}
			if hold = 0; i+4 <= len(delays) {
				s.after += time.Duration(le.Uint32(delays[i:])) * time.Millisecond
			}
			if i+4 == len(values) && (last == fail || last == cutOff) {
				s.act = last
			}
			s.out = []tensor{
				{"OUT", in[0].typ, []int64{1}, values[i : i+4]},
				{"IDX", in[1].typ, []int64{1}, le.AppendUint32(nil, uint32(i/4))},
			}
			if !yield(s) {
				return
			}
		}
		if last == hang {
			yield(responseStep{act: hang})
		}
	}
}

// Times of tokens_decoupled.
const (
	firstToken = 20 * time.Millisecond
	nextToken  = 5 * time.Millisecond
)

// words yields max_tokens (in[1], 8 if absent) words of in[0], one by one or, if stream (in[2]) is
// false, as one text.
func words(in []tensor) iter.Seq[responseStep] {
	text := string(in[0].data[min(4, len(in[0].data)):])
	n := 8
	if in[1].typ != nil {
		n = int(int32(binary.LittleEndian.Uint32(in[1].data)))
	}
	whole := in[2].typ != nil && in[2].data[0] == 0
	list := strings.Fields(text)
	if len(list) == 0 {
		list = []string{"token"}
	}
	response := func(after time.Duration, text string) responseStep {
		out := tensor{"text_output", in[0].typ, []int64{1}, appendBytes(nil, text)}
		return responseStep{after: after, out: []tensor{out}}
	}
	return func(yield func(responseStep) bool) {
		var all strings.Builder
		after := firstToken
		for i := range n {
			word := list[i%len(list)] + " "
			all.WriteString(word)
			if !whole && !yield(response(after, word)) {
				return
			}
			after = nextToken
		}
		if whole {
			yield(response(firstToken+time.Duration(max(n-1, 0))*nextToken, all.String()))
		}
	}
}

// responseTime is the time at which one response of a request was passed to the transport.
type responseTime struct {
	ID      string `json:"id"`
	Index   int    `json:"index"`
	Arrived int64  `json:"arrived"` // both in ns since the first arrival
	Sent    int64  `json:"sent"`
}

// maxSendings is the number of responses that are kept, the latest ones.
const maxSendings = 64 << 10

// responseTimes holds the true times of responses, by the server's clock.
type responseTimes struct {
	ring[responseTime]
	clock clock
}

// note records a response that is being sent now.
func (s *responseTimes) note(id string, index int, arrived int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.add(responseTime{ID: id, Index: index, Arrived: arrived, Sent: s.clock.now()})
}

// list returns the recorded responses, oldest first, as times since first.
func (s *responseTimes) list(first int64) []responseTime {
	s.mu.Lock()
	defer s.mu.Unlock()
	list, _ := s.from(0)
	for i := range list {
		list[i].Arrived -= first
		list[i].Sent -= first
	}
	return list
}
