package builtin

import (
	"bytes"
	"net/http"
	"sync"
	"sync/atomic"

	"google.golang.org/grpc/codes"
)

// regions are the pieces of shared memory that clients have registered.
type regions struct {
	mu   sync.Mutex
	byID map[string]*shared
}

// shared is one region. Its bytes are accessed under the lock of regions.
type shared struct {
	status regionStatus
	bytes  []byte
	users  int // unanswered requests that name it
}

// memory is the kind of a region's memory. Requests name one kind, and all kinds share one set of
// names.
type memory string

const (
	systemMemory memory = "system"
	cudaMemory   memory = "cuda"
)

// title returns the memory's name as Triton writes it.
func (m memory) title() string {
	if m == cudaMemory {
		return "CUDA"
	}
	return string(m)
}

// regionStatus describes a region in both protocols: system memory has key and offset, GPU memory
// the GPU's number. The tags are for the body of a registration over HTTP.
type regionStatus struct {
	memory memory
	name   string
	Key    string `json:"key"`
	Offset uint64 `json:"offset"`
	Device uint64 `json:"device_id"`
	Size   uint64 `json:"byte_size"`
}

func (r *regionStatus) json() object {
	o := object{"name": r.name, "byte_size": r.Size}
	if r.memory == cudaMemory {
		o["device_id"] = r.Device
	} else {
		o["key"], o["offset"] = r.Key, r.Offset
	}
	return o
}

// maxRegion bounds the bytes of one registration.
const maxRegion = 1 << 40

// register maps a region.
func (s *regions) register(r regionStatus) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byID[r.name] != nil {
		return &failure{
			http.StatusBadRequest, codes.AlreadyExists,
			"shared memory region '" + r.name + "' already in manager",
		}
	}
	if r.Size == 0 || r.Size > maxRegion || r.Offset > maxRegion {
		return invalid("invalid size of shared memory region: '%s'", r.name)
	}
	bytes, err := mapShared(r.Key, int64(r.Offset), int(r.Size))
	switch {
	case err != nil && r.memory == cudaMemory:
		return invalid("failed to register shared memory region: invalid args")
	case err != nil:
		return internal("Unable to open shared memory region: '%s'", r.Key)
	}
	if s.byID == nil {
		s.byID = map[string]*shared{}
	}
	s.byID[r.name] = &shared{status: r, bytes: bytes}
	return nil
}

// handleSize is the size in bytes of a CUDA handle.
const handleSize = 64

// keyOf returns the key of GPU memory on a machine without a GPU: the client's driver is a stand-in
// that shares system memory instead, and writes its key into the handle. The handle of a real
// driver leads to no memory here.
func keyOf(handle []byte) string {
	key, _, _ := bytes.Cut(handle, []byte{0})
	return string(key)
}

// unregister removes a region of a memory, or all; an unknown one counts as removed.
func (s *regions) unregister(m memory, name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, r := range s.byID {
		if name != "" && id != name || r.status.memory != m {
			continue
		}
		if r.users > 0 {
			return internal("Cannot unregister shared memory region '%s', it is currently in use.", id)
		}
		unmapShared(r.bytes)
		delete(s.byID, id)
	}
	return nil
}

// list returns a region of a memory, or all.
func (s *regions) list(m memory, name string) ([]regionStatus, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch r := s.byID[name]; {
	case name == "":
	case r == nil:
		return nil, notFound("Unable to find %s shared memory region: '%s'", m, name)
	case r.status.memory != m:
		return nil, notFound("The region named '%s' is registered as %s shared memory, not %s shared memory",
			name, r.status.memory.title(), m.title())
	}
	list := []regionStatus{}
	for id, r := range s.byID {
		if (name == "" || id == name) && r.status.memory == m {
			list = append(list, r.status)
		}
	}
	return list, nil
}

// close unmaps all regions; no request may be in flight.
func (s *regions) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.byID {
		unmapShared(r.bytes)
	}
	s.byID = nil
}

// place is the position of a request's tensor.
type place struct {
	region       string
	offset, size uint64
}

// resources holds the bytes and the regions that one request uses; done releases them.
type resources struct {
	free    *atomic.Int64 // bytes for all requests
	bytes   int64
	of      *regions
	used    []*shared
	outputs map[string]place
}

func (s *Server) use() *resources { return &resources{free: &s.bodies, of: &s.regions} }

// reserve reserves n bytes, or returns false if fewer are free.
func (h *resources) reserve(n int64) bool {
	h.bytes += n
	if h.free.Add(-n) < 0 {
		h.release(n)
		return false
	}
	return true
}

func (h *resources) release(n int64) {
	h.free.Add(n)
	h.bytes -= n
}

func (h *resources) done() {
	h.release(h.bytes)
	h.of.mu.Lock()
	defer h.of.mu.Unlock()
	for _, r := range h.used {
		r.users--
	}
	h.used = nil
}

// find returns the bytes of a place, which stay mapped until done. The caller holds the lock.
func (h *resources) find(p place) ([]byte, error) {
	r := h.of.byID[p.region]
	if r == nil {
		return nil, notFound("Unable to find shared memory region: '%s'", p.region)
	}
	size := uint64(len(r.bytes))
	if p.offset > size || p.size > size-p.offset {
		return nil, invalid("Invalid offset + byte size for shared memory region: '%s'", p.region)
	}
	r.users++
	h.used = append(h.used, r)
	return r.bytes[p.offset : p.offset+p.size], nil
}

// input copies a tensor from its place.
func (h *resources) input(p place) ([]byte, error) {
	h.of.mu.Lock()
	defer h.of.mu.Unlock()
	b, err := h.find(p)
	return append([]byte(nil), b...), err
}

// output sets the place of an output.
func (h *resources) output(name string, p place) error {
	h.of.mu.Lock()
	defer h.of.mu.Unlock()
	_, err := h.find(p)
	if h.outputs == nil {
		h.outputs = map[string]place{}
	}
	h.outputs[name] = p
	return err
}

// put writes an output to its place. It returns false if the output belongs in the reply.
func (h *resources) put(t tensor) (bool, error) {
	p, ok := h.outputs[t.name]
	if !ok {
		return false, nil
	}
	if uint64(len(t.data)) > p.size {
		return true, internal("shared memory size specified with the request for output '%s' (%d bytes) "+
			"should be at least %d bytes to hold the results", t.name, p.size, len(t.data))
	}
	h.of.mu.Lock()
	defer h.of.mu.Unlock()
	b, err := h.find(p)
	copy(b, t.data)
	return true, err
}
