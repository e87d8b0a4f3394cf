package builtin

import "context"

// step is one call of an ensemble. The maps lead from the called model's names to names inside the
// ensemble: its own inputs, the outputs of earlier steps, its outputs.
type step struct {
	called  *model
	in, out map[string]string
}

// ensemble returns a model that adds and subtracts the outputs of simple: SUM = 2·INPUT0, DIFF =
// 2·INPUT1.
func ensemble(simple *model) *model {
	return &model{
		name: "ensemble", maxBatch: simple.maxBatch, count: 1, inputs: simple.inputs,
		outputs: []spec{
			{"SUM", simple.outputs[0].typ, []int64{16}},
			{"DIFF", simple.outputs[0].typ, []int64{16}},
		},
		steps: []step{
			{
				simple,
				map[string]string{"INPUT0": "INPUT0", "INPUT1": "INPUT1"},
				map[string]string{"OUTPUT0": "sum", "OUTPUT1": "difference"},
			},
			{
				simple,
				map[string]string{"INPUT0": "sum", "INPUT1": "difference"},
				map[string]string{"OUTPUT0": "SUM", "OUTPUT1": "DIFF"},
			},
		},
	}
}

// compose runs j through the steps, one after the other, each through the queue of the called
// model.
func (m *model) compose(ctx context.Context, r *inference, j *job) error {
	start := m.queue.clock.now()
	known := map[string]tensor{}
	for _, t := range j.in {
		known[t.name] = t
	}
	for _, s := range m.steps {
		inner := &job{rows: j.rows, fail: j.fail, arrived: m.queue.clock.now(), done: make(chan struct{})}
		for _, in := range s.called.inputs {
			t := known[s.in[in.name]]
			t.name = in.name
			inner.in = append(inner.in, t)
		}
		if err := s.called.do(ctx, r, inner); err != nil {
			m.stats.failed(m.queue.clock.now() - j.arrived)
			return err
		}
		for _, out := range inner.out {
			out.name = s.out[out.name]
			known[out.name] = out
		}
	}
	for _, out := range m.outputs {
		j.out = append(j.out, known[out.name])
	}
	end := m.queue.clock.now()
	j.started, j.queued = start, start
	m.stats.executed([]*job{j}, start, start, end, end)
	return nil
}
