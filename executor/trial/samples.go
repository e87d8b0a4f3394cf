package trial

import (
	"fmt"
	"slices"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/measure"
)

// Recording is a trial whose samples are kept.
type Recording struct {
	Node    string
	Number  int       // of all the node's trials, from 0: its repeats, and those of a search in each
	Mix     []string  // names of the kinds of request; nil without a mix
	Closed  bool      // the load is a number of requests in flight
	Value   float64   // of the load: see result.Load.Total; 0 where a rate changes
	Started time.Time // the origin of the run's clock
	// Sent are the tensors of a request, Received those of a reply that was kept (Env.Replies).
	Sent     func(entry uint16, row uint32) []backends.Tensor
	Received func(entry uint16, reply []byte) ([]backends.Tensor, error)
	// Own returns the tensors of a sample's request where it was sent with others than those of Sent, once; else nil.
	Own func(x *backends.Sample) []backends.Tensor
}

// Recorder keeps the samples of one trial.
type Recorder interface {
	measure.Sink
	// Counted takes the number of tokens of the answer to a request that was written without usage.
	Counted(id uint64, tokens int64)
	// Close ends the trial. bounds are the edges of its windows, ns on the run's clock: where hold
	// began, and each end. The error says what is missing.
	Close(bounds []int64) error
}

// newRecorder returns who keeps the samples of a trial; nil: they are not kept.
func newRecorder(s *session) Recorder {
	h, in, p := s.host, s.in, s.plan
	if h.Record == nil {
		return nil
	}
	r := Recording{
		Node: in.Node.ID, Number: in.Number, Closed: in.Result.Load.Kind == "concurrency", Value: p.Level,
		Started: h.Clock.Origin.UTC(), Sent: in.Requests.sent, Received: in.Requests.received,
		Own: s.own,
	}
	if !p.Open {
		r.Value = in.Result.Load.Total()
	}
	for _, e := range in.Node.Stage.Mix {
		r.Mix = append(r.Mix, e.Name)
	}
	return h.Record(r)
}

// sent returns the tensors of a request.
func (in *Requests) sent(entry uint16, row uint32) []backends.Tensor {
	return in.Entries[entry].Built[row].Inputs
}

// promptTokens returns the tokens of requests; nil: none is known.
func (in *Requests) promptTokens() func(entry uint16, row uint32) int {
	known := func(e *Entry) bool { return e.Prompts != nil }
	if !slices.ContainsFunc(in.Entries, known) {
		return nil
	}
	return func(entry uint16, row uint32) int {
		if int(entry) >= len(in.Entries) || int(row) >= len(in.Entries[entry].Prompts) {
			return 0
		}
		return in.Entries[entry].Prompts[row]
	}
}

// own returns the tensors of a request that are others than those of its row: those of a turn that holds the ones
// before it and their answers, or of a prompt with words of its own.
func (s *session) own(x *backends.Sample) []backends.Tensor {
	e := s.in.Requests.Entries[x.Entry]
	var call *backends.Call
	if s.sessions != nil {
		call = s.sessions.Sent(x.ID)
	}
	if call == nil && int(x.Row) < len(e.Calls) && e.Calls[x.Row].Vary != nil {
		call = e.Calls[x.Row]
	}
	if call == nil {
		return nil
	}
	if b, ok := s.in.Requests.Targets[e.Target].Conn.(backends.Recaller); ok {
		if body := b.SentBody(call, x.ID); body != nil {
			return []backends.Tensor{backends.Payload(body)}
		}
		return nil
	}
	if call.Vary != nil && int(x.Row) < len(e.Built) {
		return call.Vary.Filled(e.Built[x.Row].Inputs, x.ID)
	}
	return nil
}

// received returns the tensors of a reply.
func (in *Requests) received(entry uint16, reply []byte) ([]backends.Tensor, error) {
	r, ok := in.Targets[in.Entries[entry].Target].Conn.(backends.Replier)
	if !ok {
		return nil, fmt.Errorf("the backend's replies cannot be read back")
	}
	return r.Outputs(reply)
}

// closeRecorder ends the recording of a trial that has been measured. The edges of its windows are
// those of hold where it has none.
func closeRecorder(r Recorder, m *measured) (notes findings) {
	if r == nil {
		return nil
	}
	bounds := []int64{m.total.From}
	for _, w := range m.history {
		bounds = append(bounds, int64(w.To*1e9))
	}
	if len(bounds) == 1 {
		bounds = append(bounds, m.total.To)
	}
	if err := r.Close(bounds); err != nil {
		notes.note("samples", "the samples file is incomplete: %s", err)
	}
	return notes
}
