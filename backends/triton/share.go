package triton

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/kserve"
	"github.com/sluice-bench/sluice/backends/tensor"
	"github.com/sluice-bench/sluice/backends/wire/cuda"
)

// alignment is the alignment of tensors in a region in bytes: that of the widest vector
// instructions.
const alignment = 64

// maxSlots bounds the number of output regions, by the digits of their names.
const maxSlots = 1_000_000

// shares is the state common to all calls of Share on a connection.
type shares struct {
	number atomic.Uint64 // of the last share, so that no two regions have the same name
	mu     sync.Mutex
	gpus   map[int]*cuda.Device // in use until the connection is closed: opening one takes time
}

// gpu returns a GPU by its number, opening it if necessary.
func (s *shares) gpu(number int) (*cuda.Device, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d := s.gpus[number]; d != nil {
		return d, nil
	}
	d, err := cuda.Open(number)
	if err != nil {
		return nil, fmt.Errorf("shared memory: %w", err)
	}
	if s.gpus == nil {
		s.gpus = map[int]*cuda.Device{}
	}
	s.gpus[number] = d
	return d, nil
}

// close closes the GPUs; no share may be open.
func (s *shares) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, d := range s.gpus {
		errs = append(errs, d.Close())
	}
	s.gpus = nil
	return errors.Join(errs...)
}

// Share implements backends.Sharer. All inputs are in one region, one after the other, and every
// slot has a region for the outputs of its requests, so that none overwrites another's.
func (c *conn) Share(reqs []backends.Request, o backends.Sharing) (backends.Shared, error) {
	s := &share{conn: c, o: &o, reqs: slices.Clone(reqs)} // a copy: their requested outputs are filled in
	if err := s.encode(); err != nil {
		return nil, err
	}
	return s, nil
}

// share holds requests whose tensors are in regions, and the regions while they are open.
type share struct {
	conn     *conn
	o        *backends.Sharing
	reqs     []backends.Request
	name     string // prefix of the names of its regions
	places   []kserve.Places
	input    int64 // sizes in bytes of the region of inputs, and of a slot's region of outputs
	output   int64
	calls    []*backends.Call
	nameUsed bool // the server may still know regions of this name

	memory    *memory
	inputs    region // nil: the inputs have no bytes
	slots     []region
	allocated map[string]region // by the names that the server knows, or may know
}

// encode assigns all places, under a unique name, and encodes the requests.
func (s *share) encode() (err error) {
	s.name = fmt.Sprintf("sluice-%d-%x-%d",
		os.Getpid(), s.conn.clock.Origin.UnixNano(), s.conn.shares.number.Add(1))
	if err = s.layout(); err != nil {
		return err
	}
	s.calls = make([]*backends.Call, len(s.reqs))
	for i := range s.reqs {
		if s.calls[i], err = s.conn.PrepareShared(s.reqs[i], &s.places[i]); err != nil {
			return fmt.Errorf("row %d: %w", s.reqs[i].Row, err)
		}
	}
	s.nameUsed = false
	return nil
}

// Open implements backends.Shared.
func (s *share) Open(
	ctx context.Context, slots int,
) (calls []*backends.Call, release backends.Release, err error) {
	if slots < 1 || slots > maxSlots {
		return nil, nil, fmt.Errorf("shared memory for %d slots: 1 to %d can be had", slots, maxSlots)
	}
	if s.nameUsed {
		if err := s.encode(); err != nil {
			return nil, nil, err
		}
	}
	if s.memory, err = s.conn.shares.memory(s.o); err != nil {
		return nil, nil, err
	}
	if err := s.open(ctx, slots); err != nil {
		return nil, nil, errors.Join(err, s.close(context.WithoutCancel(ctx)))
	}
	return s.calls, s.close, nil
}

// open allocates the regions, registers them, and writes the inputs.
func (s *share) open(ctx context.Context, slots int) (err error) {
	if err = s.memory.CheckFree(page(s.input) + page(s.output)*int64(slots)); err != nil {
		return fmt.Errorf("%w: %d bytes of inputs, and %d for the outputs of each of %d slots; lower "+
			"`output_size`, `max_in_flight` or the data, or %s", err, s.input, s.output, slots,
			s.memory.howToGetMore)
	}
	s.allocated = map[string]region{}
	if s.input > 0 {
		if s.inputs, err = s.region(ctx, s.name+"-in", s.input); err != nil {
			return err
		}
	}
	for k := range slots {
		r, err := s.region(ctx, fmt.Sprintf("%s-out-%0*d", s.name, kserve.RegionDigits, k), s.output)
		if err != nil {
			return err
		}
		s.slots = append(s.slots, r)
	}
	for i := range s.reqs {
		for k, at := range s.places[i].Inputs {
			if at.Size == 0 {
				continue
			}
			if err := s.inputs.Write(at.At, s.reqs[i].Inputs[k].Data); err != nil {
				return fmt.Errorf("shared memory: input %s: %w", s.reqs[i].Inputs[k].Name, err)
			}
		}
	}
	return nil
}

// layout sets the places of all tensors and the sizes of the regions. Requests that name no outputs
// ask for all.
func (s *share) layout() error {
	s.places, s.input, s.output = make([]kserve.Places, len(s.reqs)), 0, 0
	for i := range s.reqs {
		r, p := &s.reqs[i], &s.places[i]
		if r.Body != nil {
			return errors.New("a whole body cannot use shared memory")
		}
		p.Output, p.Read = s.name+"-out-", s.read
		for _, t := range r.Inputs {
			at := kserve.Place{Region: s.name + "-in", At: s.input, Size: int64(len(t.Data))}
			p.Inputs = append(p.Inputs, at)
			s.input = align(s.input + at.Size)
		}
		if r.Outputs == nil {
			for _, port := range s.o.Model.Outputs {
				r.Outputs = append(r.Outputs, backends.Output{Name: port.Name})
			}
		}
		if len(r.Outputs) == 0 {
			return errors.New("shared memory: the server does not say which outputs the model has: " +
				"name them with `outputs`")
		}
		end := int64(0)
		for _, o := range r.Outputs {
			at := kserve.Place{At: end, Size: s.outputSize(o.Name, int64(max(r.Items, 1)))}
			p.Outputs = append(p.Outputs, at)
			end = align(end + at.Size)
		}
		s.output = max(s.output, end)
	}
	return nil
}

func align(n int64) int64 { return (n + alignment - 1) / alignment * alignment }

// outputSize returns the bytes reserved for an output of a request of items inferences: from
// datatype and shape, or else from the plan.
func (s *share) outputSize(name string, items int64) int64 {
	i := slices.IndexFunc(s.o.Model.Outputs, func(p backends.Port) bool { return p.Name == name })
	if i >= 0 {
		port := s.o.Model.Outputs[i]
		if n, err := tensor.Elements(port.Shape); err == nil && port.Type.Size() > 0 && n > 0 {
			return n * items * int64(port.Type.Size())
		}
	}
	return s.o.OutputSize * items
}

func page(n int64) int64 {
	size := int64(os.Getpagesize())
	return (n + size - 1) / size * size
}

// region allocates and registers one region. If that fails halfway, close undoes it.
func (s *share) region(ctx context.Context, name string, size int64) (region, error) {
	r, err := s.memory.Make(name, size)
	if err != nil {
		return nil, err
	}
	s.allocated[name] = r // also if the answer is lost
	if err := s.conn.register(ctx, s.memory, name, r); err != nil {
		return nil, s.refusedError(err)
	}
	return r, r.Registered()
}

// refusedError adds advice to the error of a server that refuses a region.
func (s *share) refusedError(err error) error {
	advice := ""
	for _, r := range slices.Backward(s.memory.refusals) {
		if strings.Contains(err.Error(), r.words) {
			advice = "; " + r.advice
		}
	}
	return fmt.Errorf("the server does not take %s shared memory: %w%s", s.o.Memory, err, advice)
}

// read returns bytes of a slot's region of outputs.
func (s *share) read(region uint32, at, size int64) ([]byte, error) {
	if int(region) >= len(s.slots) {
		return nil, fmt.Errorf("slot %d has no region", region)
	}
	return s.slots[region].Read(at, size)
}

// close unregisters the regions and frees the memory, whatever the server answers: it has released
// the memory before, if it can be asked.
func (s *share) close(ctx context.Context) error {
	var errs []error
	names := slices.Sorted(maps.Keys(s.allocated))
	for _, name := range names {
		if err := s.unregisterRegion(ctx, name); err != nil {
			errs = append(errs, fmt.Errorf("unregister shared memory %s: %w", name, err))
			break // a server that is gone is not asked about every region
		}
	}
	if s.memory.mustUnregister && len(errs) == 0 {
		errs = append(errs, s.awaitUnregistered(ctx))
	}
	s.nameUsed = errors.Join(errs...) != nil
	for _, name := range names {
		errs = append(errs, s.allocated[name].Close())
	}
	s.allocated, s.inputs, s.slots = nil, nil, nil
	return errors.Join(errs...)
}

// awaitUnregistered waits until the server has none of the regions any more: if a request still
// uses a region, the server accepts the call and removes the region at the end of the request. It
// does not wait for a server that cannot be asked.
func (s *share) awaitUnregistered(ctx context.Context) error {
	for len(s.allocated) > 0 {
		names, err := s.conn.registered(ctx, s.memory)
		ours := func(name string) bool { return s.allocated[name] != nil }
		if err != nil || !slices.ContainsFunc(names, ours) {
			return nil
		}
		if !pause(ctx) {
			return errors.New("the server still uses shared memory that was unregistered")
		}
	}
	return nil
}

// inUse is part of the server's refusal to remove a region that is used by one of its requests:
// requests cancelled by the client continue there.
const inUse = "currently in use"

// unregisterRegion unregisters a region, and waits for the server's requests that use it.
func (s *share) unregisterRegion(ctx context.Context, name string) error {
	for {
		err := s.conn.unregister(ctx, s.memory, name)
		if err == nil || !strings.Contains(err.Error(), inUse) || !pause(ctx) {
			return err
		}
	}
}
