package executor

import (
	"fmt"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/measure"
)

// Recording is a trial whose samples somebody keeps.
type Recording struct {
	Node    string
	Number  int       // of all the node's trials, from 0: its repeats, and those of a search in each
	Mix     []string  // names of the kinds of request; nil without a mix
	Closed  bool      // the load is a number of requests in flight
	Value   float64   // of the load: see result.Load.Setting; 0 where a rate changes
	Started time.Time // the origin of the run's clock
	// Sent are the tensors of a request, Received those of a reply that was kept (Env.Replies).
	Sent     func(entry uint16, row uint32) []backends.Tensor
	Received func(entry uint16, reply []byte) ([]backends.Tensor, error)
}

// Recorder keeps the samples of one trial.
type Recorder interface {
	measure.Sink
	// Close ends the trial. bounds are the edges of its windows, ns on the run's clock: where hold began, and each end. The
	// error says what is missing.
	Close(bounds []int64) error
}

// recorder is who keeps the trial's samples; nil: nobody.
func (t *trial) recorder() Recorder {
	if t.r.env.Record == nil {
		return nil
	}
	r := Recording{
		Node: t.node.ID, Number: t.serial, Closed: t.course.profile != nil, Value: t.value(), Started: t.r.result.Started,
		Sent: t.in.sent, Received: t.in.received,
	}
	for _, e := range t.node.Stage.Mix {
		r.Mix = append(r.Mix, e.Name)
	}
	return t.r.env.Record(r)
}

// value is the load as one number; 0: a rate that changes.
func (t *trial) value() float64 {
	if t.course.profile != nil {
		return t.out.Load.Setting()
	}
	return t.level
}

// sent are the tensors of a request.
func (in *inputs) sent(entry uint16, row uint32) []backends.Tensor {
	if int(entry) >= len(in.entries) || int(row) >= len(in.entries[entry].built) {
		return nil
	}
	return in.entries[entry].built[row].Inputs
}

// received are the tensors of a reply.
func (in *inputs) received(entry uint16, reply []byte) ([]backends.Tensor, error) {
	if int(entry) >= len(in.entries) {
		return nil, nil
	}
	r, ok := in.pools[in.entries[entry].pool].conn.(backends.Replier)
	if !ok {
		return nil, fmt.Errorf("the backend's replies cannot be read back")
	}
	return r.Outputs(reply)
}

// recorded ends the recording of a trial that has been measured.
func (t *trial) recorded(total *measure.Total) {
	if t.keeper == nil {
		return
	}
	bounds := []int64{total.From}
	for _, w := range t.steer.history {
		bounds = append(bounds, int64(w.To*1e9))
	}
	if len(bounds) == 1 {
		bounds = append(bounds, total.To)
	}
	if err := t.keeper.Close(bounds); err != nil {
		t.note("samples", "the samples file is incomplete: %s", err)
	}
}
