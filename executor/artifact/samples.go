package artifact

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/result"
)

// Bounds of what waits for the disk: when no block is free, samples are counted as lost rather than waited for.
const (
	blockSamples = 2048
	blockBytes   = 1 << 20 // of events, notes and replies
	blocks       = 16
	ends         = 256 // trials that end at the same time and hold up no other
)

// SamplesOptions say what becomes of the requests of a run.
type SamplesOptions struct {
	Table  string // csv or jsonl: a file with a line for each request; "": none
	Export bool   // requests for profile_export.json
	// Mask takes secrets out of what servers and the plan say. nil: there are none.
	Mask func(string) string
}

// Trial is one measurement whose requests are kept: a node, or a repeat of it, or a trial of its search.
type Trial struct {
	Node    string
	Number  int       // of all the node's trials, from 0
	Mix     []string  // names of the kinds of request
	Closed  bool      // its load is a number of requests in flight
	Value   float64   // of the load
	Started time.Time // the origin of the run's clock
	// Sent are the tensors of a request; Received those of a reply that was kept. nil: they are not known.
	Sent     func(entry uint16, row uint32) []backends.Tensor
	Received func(entry uint16, reply []byte) ([]backends.Tensor, error)
}

// Samples keeps every request of a run in files of a folder. Whoever measures hands samples over and is never held up: they
// are copied into blocks, which one goroutine writes. Memory is bounded; what the disk is too slow for is counted.
//
//	s := NewSamples(dir, o)
//	k := s.Trial(t)            for each measurement, from any goroutine
//	k.Write(sample) …          from one goroutine
//	k.Close(bounds)            says what was lost
//	s.Close()                  when nothing is measured any more; then Folder.Write makes the files
type Samples struct {
	dir   string
	o     SamplesOptions
	full  chan delivery
	free  chan *block
	ended chan struct{}

	// Of the writing goroutine, and of Close after it.
	table  *spool
	trials []*exported
	masked map[string]string // texts, and what Mask made of them
	err    error
}

// delivery is a block on its way to the disk; done, of a trial's last one, hears when all is there.
type delivery struct {
	from  *Kept
	block *block
	done  chan error
}

// block is samples with all that they point to.
type block struct {
	samples []backends.Sample
	events  []backends.Event
	bytes   []byte
}

// NewSamples begins. Nothing is written before the first sample comes.
func NewSamples(dir string, o SamplesOptions) *Samples {
	s := &Samples{dir: dir, o: o, full: make(chan delivery, blocks+ends), free: make(chan *block, blocks), ended: make(chan struct{})}
	for range blocks {
		s.free <- nil // made when it is needed
	}
	go s.write()
	return s
}

// Kept keeps the samples of one trial.
type Kept struct {
	of     *Samples
	trial  Trial
	block  *block
	lost   int64
	bounds []int64

	// Of the writing goroutine.
	parts map[uint64]*part // requests that go on, by lane and slot
	out   *exported
}

// Replies reports whether what was answered is to be kept too.
func (s *Samples) Replies() bool { return s.o.Export }

// Trial begins to keep the samples of a trial.
func (s *Samples) Trial(t Trial) *Kept { return &Kept{of: s, trial: t} }

// Write copies a sample. It does not block.
func (k *Kept) Write(s *backends.Sample) error {
	if k.block == nil && !k.take() {
		k.lost++
		return nil
	}
	b := k.block
	b.samples = append(b.samples, *s)
	c := &b.samples[len(b.samples)-1]
	at := len(b.events)
	b.events = append(b.events, s.Events...)
	c.Events = b.events[at:len(b.events):len(b.events)]
	c.Note, c.Text = b.copy(s.Note), b.copy(s.Text)
	if len(b.samples) == cap(b.samples) || len(b.bytes)+16*len(b.events) >= blockBytes {
		k.of.full <- delivery{from: k, block: b} // there is room for all blocks
		k.block = nil
	}
	return nil
}

func (b *block) copy(text []byte) []byte {
	at := len(b.bytes)
	b.bytes = append(b.bytes, text...)
	return b.bytes[at:len(b.bytes):len(b.bytes)]
}

// take gets an empty block, if there is one.
func (k *Kept) take() bool {
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

// Close ends the trial and waits until its samples are written. bounds are the edges of its windows, ns on the run's clock:
// where hold began, and each end. The error says how many samples are missing, and why.
func (k *Kept) Close(bounds []int64) error {
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

// write is the goroutine that all files are written by.
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

// fail gives up all that was kept, if there is an error: nothing of it is of use any more, and the result may need its room on
// the disk.
func (s *Samples) fail(err error) {
	if err != nil {
		s.err = errors.Join(err, s.discard())
	}
}

// room writes a file of the result. Where the disk has no room for it, the requests give way.
func (s *Samples) room(write func() error) error {
	err := write()
	if s == nil || s.err != nil || !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EDQUOT) {
		return err
	}
	s.fail(fmt.Errorf("the requests were given up for the result: %w", err))
	return write()
}

// part is what has come of a request that goes on.
type part struct {
	gen    uint32
	events []backends.Event
	text   []byte
}

// keep writes one sample. What came in parts is joined first.
func (k *Kept) keep(x *backends.Sample) error {
	key := uint64(x.Lane)<<16 | uint64(x.Slot)
	if x.Flags&backends.Partial != 0 {
		if k.parts == nil {
			k.parts = make(map[uint64]*part)
		}
		p := k.parts[key]
		if p == nil || p.gen != x.Gen {
			p = &part{gen: x.Gen}
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
	if k.of.o.Table != "" {
		if err := k.of.row(k, x); err != nil {
			return err
		}
	}
	if k.of.o.Export {
		return k.export(x)
	}
	return nil
}

// row writes a line of the table.
func (s *Samples) row(k *Kept, x *backends.Sample) error {
	if err := s.begin(); err != nil {
		return err
	}
	if s.o.Table == "csv" {
		return s.table.line(k.csvLine(s.table.buffer[:0], x))
	}
	return s.table.line(k.jsonLine(s.table.buffer[:0], x))
}

// begin makes the table, if there is none.
func (s *Samples) begin() (err error) {
	if s.table != nil {
		return nil
	}
	if s.table, err = newSpool(s.dir, "samples."+s.o.Table); err == nil && s.o.Table == "csv" {
		err = s.table.line(samplesHeader())
	}
	return err
}

// Close ends the goroutine. What is on disk then waits for Write.
func (s *Samples) Close() {
	close(s.full)
	<-s.ended
}

// names are the files that the requests go to.
func (s *Samples) names(export bool) (names []string) {
	if s == nil {
		return nil
	}
	if s.o.Table != "" {
		names = append(names, "samples."+s.o.Table)
	}
	if export && s.o.Export {
		names = append(names, "profile_export.json")
	}
	return names
}

// files gives what was kept its names, and removes the rest. A run in which nothing was sent has its files all the same.
func (s *Samples) files(f *Folder, r *result.Result, export bool) (names []string, err error) {
	if s == nil {
		return nil, nil
	}
	if s.o.Table != "" && s.err == nil {
		s.err = s.begin()
	}
	errs := []error{s.err}
	keep := func(p *spool, name string) error {
		if err := p.close(); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
		t := &temporary{name, p.file.Name()}
		if err := f.rename(t); err != nil {
			return err
		}
		p.gone = true
		names = append(names, name)
		return nil
	}
	if s.table != nil && s.err == nil {
		errs = append(errs, keep(s.table, "samples."+s.o.Table))
	}
	if export && s.err == nil {
		out, err := s.profileExport(r)
		if err == nil {
			err = keep(out, "profile_export.json")
		}
		if errs = append(errs, err); out != nil {
			errs = append(errs, out.remove())
		}
	}
	return names, errors.Join(append(errs, s.discard())...)
}

// discard removes what is left of files that were not finished.
func (s *Samples) discard() error {
	errs := []error{}
	if s.table != nil {
		errs = append(errs, s.table.remove())
	}
	for _, t := range s.trials {
		errs = append(errs, t.spool.remove())
	}
	return errors.Join(errs...)
}

// spool is a file that grows under a name of its own until it is whole.
type spool struct {
	file   *os.File
	w      *bufio.Writer
	buffer []byte
	gone   bool // it has its name, or was removed
}

func newSpool(dir, name string) (*spool, error) {
	f, err := createTemporary(dir, name, private)
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", name, err)
	}
	return &spool{file: f, w: bufio.NewWriterSize(f, 256<<10)}, nil
}

// line writes text, which may use the spool's buffer, and keeps the buffer.
func (p *spool) line(text []byte) error {
	p.buffer = text
	if _, err := p.w.Write(text); err != nil {
		return fmt.Errorf("write samples: %w", err)
	}
	return nil
}

// close writes what is buffered and lets go of the file, which keeps its name.
func (p *spool) close() error {
	if p.w == nil {
		return nil
	}
	err := errors.Join(p.w.Flush(), p.file.Close())
	if p.w, p.buffer = nil, nil; err != nil {
		return fmt.Errorf("write samples: %w", err)
	}
	return nil
}

func (p *spool) remove() error {
	if p.gone {
		return nil
	}
	p.gone = true
	var err error
	if p.w != nil { // what is buffered is not wanted
		p.w, p.buffer = nil, nil
		err = p.file.Close()
	}
	return errors.Join(err, os.Remove(p.file.Name()))
}
