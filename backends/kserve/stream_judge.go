package kserve

import (
	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/grpcraw"
	"github.com/sluice-bench/sluice/backends/wire/protow"
)

// Parameters of requests on a stream and of their replies.
const (
	// wantFinal asks for a separate message that marks the end of a request if the model ends it after
	// the last response.
	wantFinal = "triton_enable_empty_final_response"
	isFinal   = "triton_final_response"
)

// streamJudge classifies the messages of ModelStreamInfer: a ModelStreamInferResponse has an
// error_message (1) or an infer_response (2), a ModelInferResponse, which also names the request of
// an error if the server knows it.
//
//	triton_final_response    outputs   the message is
//	absent                   any       the only response
//	false                    any       one of several
//	true                     some      the last response
//	true                     none      not a response: only the end of the request
//
// An error without that parameter ends its request. A message that is neither is broken.
type streamJudge struct {
	grpcJudge
	scan   protow.Scanner
	answer textOf
	text   []byte // of the error
	id     []byte
	key    []byte
}

// Read implements grpcraw.StreamJudge.
func (j *streamJudge) Read(pieces [][]byte) (m grpcraw.Message) {
	m.Final = true
	outputs, answers := 0, false
	j.answer.begin()
	s := &j.scan
	for s.Begin(pieces); s.Next(); {
		switch {
		case s.Is(1):
			if j.text = s.Append(j.text[:0]); len(j.text) > 0 {
				m.Error = j.text
			}
		case s.Is(2):
			answers = true
			s.EnterMessage()
			outputs += j.response(s, &m)
			s.LeaveMessage()
		}
	}
	m.Broken = s.Err() != nil || !answers && m.Error == nil
	m.Empty = m.Final && outputs == 0 && m.Error == nil && !m.Broken
	if j.answer.wanted && outputs > 0 && m.Error == nil && !m.Broken {
		m.Text = j.answer.has || j.answer.at < 0
		m.Empty = !m.Text // no content: it brings no token
	}
	return m
}

// response reads the ModelInferResponse that s has entered: id 3, parameters 4, outputs 5. It
// returns the number of outputs.
func (j *streamJudge) response(s *protow.Scanner, m *grpcraw.Message) (outputs int) {
	for s.Next() {
		switch {
		case s.Is(3):
			j.id = s.Append(j.id[:0])
			m.ID, m.Named = number(j.id)
		case s.Is(4):
			s.EnterMessage()
			if last, ok := j.final(s); ok {
				m.Final = last
			}
			s.LeaveMessage()
		case s.Is(5):
			if j.answer.wanted {
				s.EnterMessage()
				j.answer.output(s, outputs)
				s.LeaveMessage()
			}
			outputs++
		case s.Is(6) && j.answer.wanted:
			j.answer.raw(s)
		}
	}
	return outputs
}

// final reads an entry of map<string, InferParameter>: key 1, value 2 {bool_param 1}.
func (j *streamJudge) final(s *protow.Scanner) (last, ok bool) {
	for s.Next() {
		switch {
		case s.Is(1):
			j.key = s.Append(j.key[:0])
			ok = string(j.key) == isFinal
		case s.Is(2):
			s.EnterMessage()
			for s.Next() {
				last = last || s.Field == 1 && s.Varint == 1
			}
			s.LeaveMessage()
		}
	}
	return last, ok
}

// Reply implements grpcraw.StreamJudge.
func (j *streamJudge) Reply(c *backends.Call, pieces [][]byte, s *backends.Sample) {
	var response []byte
	if len(pieces) > 0 && j.Whole(c, s) {
		w := protow.Walk(pieces[0])
		for w.Next() {
			if w.Is(2) {
				response = w.Bytes
			}
		}
		if j.keep && response != nil {
			s.AddText(response)
		}
	}
	j.judge(c, pieces, response, (*grpcCheck).streamed, s)
}

// streamed returns the request for a stream: it asks for a message that marks its end, unless the
// plan sets that parameter.
func streamed(r backends.Request) backends.Request {
	r.Parameters = mergeParameters([]backends.Parameter{{Name: wantFinal, Value: true}}, r.Parameters)
	return r
}
