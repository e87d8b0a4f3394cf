package builtin

import (
	"encoding/binary"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
)

// version is the only version of every model.
const version = "1"

// tensor is an input or output with its data in raw form.
type tensor struct {
	name  string
	typ   *datatype
	shape []int64 // batch dimension included
	data  []byte
}

// spec declares an input or output of a model. Dims are without the batch dimension; -1 is any
// size.
type spec struct {
	name string
	typ  *datatype
	dims []int64
}

// model is one entry of the server's repository.
type model struct {
	name     string
	maxBatch int // rows of one request; 0: tensors have no batch dimension
	inputs   []spec
	outputs  []spec
	run      func([]tensor) []tensor // inputs in the order of the spec
	service  float64                 // own service time in seconds
	count    int                     // own instances
	steps    []step                  // of an ensemble, which has no run

	unloaded atomic.Bool
	size     atomic.Int64 // max_batch_size that it was loaded with; 0: maxBatch

	optional int // number of inputs, the last ones, that may be left out
	// moves yields the response steps of a decoupled model, whose inputs run passes through; nil: it
	// has one response.
	moves func(in []tensor) iter.Seq[responseStep]

	// sequences holds the state of its sequences; nil: it keeps none.
	sequences *sequences

	queue *queue
	stats *stats
}

// shape returns a spec's shape as in the metadata: with the batch dimension if there is one.
func (m *model) shape(s spec) []int64 {
	if m.maxBatch == 0 {
		return s.dims
	}
	return append([]int64{-1}, s.dims...)
}

// Models returns the sorted names of the server's models.
func Models() []string {
	var names []string
	for _, m := range catalogue() {
		names = append(names, m.name)
	}
	slices.Sort(names)
	return names
}

// catalogue returns the models. Names and shapes are those of the Triton repository that the same
// plans run against.
func catalogue() []*model {
	var models []*model
	for _, t := range datatypes {
		maxBatch := 64
		if t.name == "BYTES" {
			maxBatch = 8
		}
		models = append(models, identity("identity_"+strings.ToLower(t.name), t, maxBatch, -1))
	}
	fp32, int32s := typeOf("FP32"), typeOf("INT32")
	slow, slow4 := identity("slow", fp32, 0, 1), identity("slow4", fp32, 0, 1)
	slow.service, slow4.service = 0.020, 0.020
	slow4.count = 4
	simple := &model{
		name: "simple", maxBatch: 8, count: 1, run: addSub,
		inputs:  []spec{{"INPUT0", int32s, []int64{16}}, {"INPUT1", int32s, []int64{16}}},
		outputs: []spec{{"OUTPUT0", int32s, []int64{16}}, {"OUTPUT1", int32s, []int64{16}}},
	}
	models = append(models, simple, identity("identity", fp32, 64, -1), slow, slow4, ensemble(simple),
		accumulator("sequence_acc", "TYPE_UINT64"), accumulator("sequence_acc_string", "TYPE_STRING"))
	return append(models, decoupled()...)
}

func identity(name string, t *datatype, maxBatch int, dim int64) *model {
	return &model{
		name: name, maxBatch: maxBatch, count: 1,
		inputs:  []spec{{"INPUT0", t, []int64{dim}}},
		outputs: []spec{{"OUTPUT0", t, []int64{dim}}},
		run:     passThrough("OUTPUT0"),
	}
}

// passThrough returns the run of a model that returns its only input as an output of this name.
func passThrough(output string) func([]tensor) []tensor {
	return func(in []tensor) []tensor {
		t := in[0]
		t.name = output
		return []tensor{t}
	}
}

// addSub computes OUTPUT0 = INPUT0 + INPUT1 and OUTPUT1 = INPUT0 - INPUT1, wrapping around.
func addSub(in []tensor) []tensor {
	a, b := in[0], in[1]
	sum, diff := make([]byte, len(a.data)), make([]byte, len(a.data))
	le := binary.LittleEndian
	for i := 0; i+4 <= len(a.data); i += 4 {
		x, y := le.Uint32(a.data[i:]), le.Uint32(b.data[i:])
		le.PutUint32(sum[i:], x+y)
		le.PutUint32(diff[i:], x-y)
	}
	return []tensor{
		{name: "OUTPUT0", typ: a.typ, shape: a.shape, data: sum},
		{name: "OUTPUT1", typ: a.typ, shape: a.shape, data: diff},
	}
}

// attach creates the model's queue; values of the configuration override its own.
func (m *model) attach(c Config, clk clock) {
	if c.Instances > 0 {
		m.count = c.Instances
	}
	service := c.ServiceTime
	if service == nil && m.service > 0 {
		service = &Dist{Mean: m.service}
	}
	m.stats = &stats{total: modelStats{Name: m.name, Version: version}}
	m.queue = &queue{
		clock: clk, run: m.run, service: service, batch: c.MaxBatch, delay: c.QueueDelay,
		size: c.QueueSize, count: m.count, stats: m.stats, rand: m.random(c.Seed),
	}
	if m.queue.size == 0 {
		m.queue.size = defaultQueueSize
	}
	m.queue.ready.L = &m.queue.mu
}

// random returns the model's own stream of draws, so that traffic to one model does not change
// another's draws.
func (m *model) random(seed uint64) *rand.Rand {
	h := uint64(14695981039346656037) // FNV-1a of the name
	for i := range len(m.name) {
		h = (h ^ uint64(m.name[i])) * 1099511628211
	}
	return rand.New(rand.NewPCG(seed, h))
}
