package artifact

import (
	"errors"
	"fmt"
	"sync"
	"syscall"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/artifact/llm"
	"github.com/sluice-bench/sluice/executor/result"
)

// Limits of the data that waits for the disk. Without a free block, samples are counted as lost.
const (
	blockSamples = 2048
	blockBytes   = 1 << 20 // events, notes and replies of a block
	blocks       = 16
	ends         = 256 // trials that may end at the same time without waiting for each other
)

// SamplesOptions select how the requests of a run are recorded.
type SamplesOptions struct {
	Table  string // csv or jsonl: a file with a line per request; "": none
	Export bool   // record requests for profile_export.json
	LLM    bool   // record requests for the files of LLM tools
	// Mask removes secrets from texts of servers and the plan; nil: there are none.
	Mask func(string) string
}

// Trial is one measurement whose requests are recorded: of a node, a repeat, or a trial of a
// search.
type Trial struct {
	Node    string
	Number  int       // number among the node's trials, from 0
	Mix     []string  // names of the entries of the mix
	Closed  bool      // closed loop
	Value   float64   // of the load: requests in flight, or 1/s
	Started time.Time // origin of the run clock
	// Sent returns the tensors of a request, Received those of a recorded reply. nil: unknown.
	Sent     func(entry uint16, row uint32) []backends.Tensor
	Received func(entry uint16, reply []byte) ([]backends.Tensor, error)
	// Own returns the tensors of a sample's request where it was sent with others than those of Sent, once; else nil.
	Own func(x *backends.Sample) []backends.Tensor
}

// Samples records every request of a run in files of a folder. The measuring goroutines are never
// blocked: samples are copied into blocks, which one goroutine writes. Memory is limited; samples
// that the disk is too slow for are counted as lost.
//
//	s := NewSamples(dir, o)
//	k := s.Trial(t)            for each measurement, from any goroutine
//	k.Write(sample) …          from one goroutine
//	k.Close(bounds)            reports lost samples
//	s.Close()                  after the last measurement; then Folder.Write makes the files
type Samples struct {
	dir   string
	o     SamplesOptions
	full  chan delivery
	free  chan *block
	ended chan struct{}

	// Used by the writing goroutine, and by Close after it.
	table  *spool
	trials []*trialExport
	logs   map[string]*requestLog // by node
	inputs *inputLog
	masked map[string]string // results of Mask, by text
	err    error

	counting sync.Mutex
	counted  map[uint64]int64 // tokens of answers without usage, by the id of the request; guarded by counting
}

// delivery is a block on its way to the disk. done, of a trial's last block, is closed when all is
// written.
type delivery struct {
	from  *TrialWriter
	block *block
	done  chan error
}

// block holds samples and all data that they point to.
type block struct {
	samples []backends.Sample
	events  []backends.Event
	bytes   []byte
}

// NewSamples starts recording. Nothing is written before the first sample.
func NewSamples(dir string, o SamplesOptions) *Samples {
	s := &Samples{
		dir: dir, o: o, full: make(chan delivery, blocks+ends), free: make(chan *block, blocks),
		ended: make(chan struct{}),
	}
	for range blocks {
		s.free <- nil // allocated when needed
	}
	go s.write()
	return s
}

// TrialWriter records the samples of one trial.
type TrialWriter struct {
	of     *Samples
	trial  Trial
	block  *block
	lost   int64
	bounds []int64

	// Used by the writing goroutine.
	parts map[uint64]*partialRequest // unfinished requests, by lane and slot
	out   *trialExport
	own   []backends.Tensor // of the sample that is being written; nil: those of its row
}

// Replies reports whether replies are recorded too.
func (s *Samples) Replies() bool { return s.o.Export }

// Trial starts recording the samples of a trial.
func (s *Samples) Trial(t Trial) *TrialWriter { return &TrialWriter{of: s, trial: t} }

// Write copies a sample. It does not block and returns no error.
func (k *TrialWriter) Write(s *backends.Sample) error {
	if k.block == nil && !k.takeBlock() {
		k.lost++
		return nil
	}
	b := k.block
	b.samples = append(b.samples, *s)
	c := &b.samples[len(b.samples)-1]
	at := len(b.events)
	b.events = append(b.events, s.Events...)
	c.Events = b.events[at:len(b.events):len(b.events)]
	c.Note, c.Text = b.copy(s.Note), nil
	if k.of.o.Export {
		c.Text = b.copy(s.Text)
	}
	if len(b.samples) == cap(b.samples) || len(b.bytes)+16*len(b.events) >= blockBytes {
		k.of.full <- delivery{from: k, block: b} // full has room for all blocks
		k.block = nil
	}
	return nil
}

func (b *block) copy(text []byte) []byte {
	at := len(b.bytes)
	b.bytes = append(b.bytes, text...)
	return b.bytes[at:len(b.bytes):len(b.bytes)]
}

// takeBlock gets an empty block and reports whether there was one.
func (k *TrialWriter) takeBlock() bool {
	select {
	case b := <-k.of.free:
		if b == nil {
			b = &block{samples: make([]backends.Sample, 0, blockSamples)}
		}
		b.samples, b.events, b.bytes = b.samples[:0], b.events[:0], b.bytes[:0]
		k.block = b
		return true
	default:
		return false
	}
}

// Counted takes the number of tokens of the answer to a request that was written without usage.
func (k *TrialWriter) Counted(id uint64, tokens int64) {
	s := k.of
	if !s.o.LLM {
		return
	}
	s.counting.Lock()
	defer s.counting.Unlock()
	if s.counted == nil {
		s.counted = make(map[uint64]int64)
	}
	s.counted[id] = tokens
}

// Close ends the trial and waits until its samples are written. bounds are the edges of its
// windows, in ns on the run clock: the start of hold, and each end. The error states how many
// samples are missing, and why.
func (k *TrialWriter) Close(bounds []int64) error {
	k.bounds = bounds
	d := delivery{from: k, block: k.block, done: make(chan error, 1)}
	k.block = nil
	k.of.full <- d
	if err := <-d.done; err != nil {
		return err
	}
	if k.lost > 0 {
		return fmt.Errorf("%d of its requests are missing: the disk was too slow for all of them", k.lost)
	}
	return nil
}

// write is the goroutine that writes all files.
func (s *Samples) write() {
	defer close(s.ended)
	for d := range s.full {
		if d.block != nil {
			for i := range d.block.samples {
				if s.err == nil {
					s.fail(d.from.keep(&d.block.samples[i]))
				}
			}
			s.free <- d.block
		}
		if d.done != nil {
			if err := d.from.end(); s.err == nil {
				s.fail(err)
			}
			d.done <- s.err
		}
	}
}

// fail discards all recorded requests after an error: they are incomplete, and the result may need
// their room on the disk.
func (s *Samples) fail(err error) {
	if err != nil {
		s.err = errors.Join(err, s.discard())
	}
}

// makeRoom writes a file of the result. If the disk is full, it discards the requests and tries
// again.
func (s *Samples) makeRoom(write func() error) error {
	err := write()
	if s == nil || s.err != nil || !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EDQUOT) {
		return err
	}
	s.fail(fmt.Errorf("the requests were given up for the result: %w", err))
	return write()
}

// partialRequest holds the parts of an unfinished request.
type partialRequest struct {
	gen    uint32
	events []backends.Event
	text   []byte
}

// keep writes one sample, joined with its earlier parts.
func (k *TrialWriter) keep(x *backends.Sample) error {
	key := uint64(x.Lane)<<16 | uint64(x.Slot)
	if x.Flags&backends.Partial != 0 {
		if k.parts == nil {
			k.parts = make(map[uint64]*partialRequest)
		}
		p := k.parts[key]
		if p == nil || p.gen != x.Gen {
			p = &partialRequest{gen: x.Gen}
			k.parts[key] = p
		}
		p.events, p.text = append(p.events, x.Events...), append(p.text, x.Text...)
		return nil
	}
	if p := k.parts[key]; p != nil {
		delete(k.parts, key)
		if p.gen == x.Gen {
			x.Events, x.Text = append(p.events, x.Events...), append(p.text, x.Text...)
		}
	}
	if k.own = nil; k.trial.Own != nil { // also where they are not written: they are kept until asked for
		k.own = k.trial.Own(x)
	}
	if k.of.o.Table != "" {
		if err := k.of.row(k, x); err != nil {
			return err
		}
	}
	if k.of.o.LLM {
		if err := k.logRequest(x); err != nil {
			return err
		}
	}
	if k.of.o.Export {
		return k.export(x)
	}
	return nil
}

// Close ends the writing goroutine. The data on disk then waits for Write.
func (s *Samples) Close() {
	close(s.full)
	<-s.ended
}

// names returns the files of the requests, without those of further nodes.
func (s *Samples) names(o Options) (names []string) {
	if s == nil {
		return nil
	}
	if s.o.Table != "" {
		names = append(names, "samples."+s.o.Table)
	}
	if o.wants(ProfileExport) && s.o.Export {
		names = append(names, llm.ProfileName)
	}
	if s.o.LLM {
		names = append(names, llmNames(o)...)
	}
	return names
}

// files gives the recorded data its names, and removes the rest. A run without requests has the
// same files.
func (s *Samples) files(f *Folder, r *result.Result, o Options) (names []string, err error) {
	if s == nil {
		return nil, nil
	}
	if s.o.Table != "" && s.err == nil {
		s.err = s.begin()
	}
	errs := []error{s.err}
	keep := func(p *spool) error {
		if err := p.close(); err != nil {
			return fmt.Errorf("write %s: %w", p.name, err)
		}
		err := f.rename(&p.temporary)
		if err == nil {
			names = append(names, p.name)
		}
		return err
	}
	if s.table != nil && s.err == nil {
		errs = append(errs, keep(s.table))
	}
	if o.wants(ProfileExport) && s.err == nil {
		out, err := s.profileExport(r)
		if err == nil {
			err = keep(out)
		}
		if errs = append(errs, err); out != nil {
			errs = append(errs, out.remove())
		}
	}
	if s.o.LLM && s.err == nil {
		more, err := s.llmFiles(f, r, o)
		names, errs = append(names, more...), append(errs, err)
	}
	return names, errors.Join(append(errs, s.discard())...)
}

// discard removes unfinished files.
func (s *Samples) discard() error {
	errs := []error{}
	if s.table != nil {
		errs = append(errs, s.table.remove())
	}
	for _, t := range s.trials {
		errs = append(errs, t.spool.remove())
	}
	for _, l := range s.logs {
		errs = append(errs, l.spool.remove())
	}
	if s.inputs != nil {
		errs = append(errs, s.inputs.spool.remove())
	}
	return errors.Join(errs...)
}
