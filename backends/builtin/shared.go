package builtin

import (
	"bytes"
	"net/http"
	"strconv"
	"sync"

	"google.golang.org/grpc/codes"
)

// regions are the pieces of shared memory that clients have registered.
type regions struct {
	mu   sync.Mutex
	byID map[string]*shared
}

// shared is one region. Its bytes are touched under the lock of regions.
type shared struct {
	status regionStatus
	bytes  []byte
	users  int // requests that name it and have not been answered
}

// memory is where a region is: a client speaks of one kind or the other, and every name is one region's.
type memory string

const (
	systemMemory memory = "system"
	cudaMemory   memory = "cuda"
)

// title is the memory's name as Triton writes it.
func (m memory) title() string {
	if m == cudaMemory {
		return "CUDA"
	}
	return string(m)
}

// regionStatus is what both protocols say of a region: memory of the system has key and offset, that of a GPU its number.
type regionStatus struct {
	memory memory
	name   string
	key    string
	offset uint64
	device uint64
	size   uint64
}

// maxRegion bounds what one registration maps.
const maxRegion = 1 << 40

// register maps a region.
func (s *regions) register(r regionStatus) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byID[r.name] != nil {
		return &failure{http.StatusBadRequest, codes.AlreadyExists, "shared memory region '" + r.name + "' already in manager"}
	}
	if r.size == 0 || r.size > maxRegion || r.offset > maxRegion {
		return invalid("invalid size of shared memory region: '%s'", r.name)
	}
	bytes, err := mapShared(r.key, int64(r.offset), int(r.size))
	switch {
	case err != nil && r.memory == cudaMemory:
		return invalid("failed to register shared memory region: invalid args")
	case err != nil:
		return &failure{http.StatusInternalServerError, codes.Internal, "Unable to open shared memory region: '" + r.key + "'"}
	}
	if s.byID == nil {
		s.byID = map[string]*shared{}
	}
	s.byID[r.name] = &shared{status: r, bytes: bytes}
	return nil
}

// handleSize is that of a handle of CUDA.
const handleSize = 64

// keyOf is the key of a GPU's memory, where there is no GPU: the client's driver is a stand-in that shares memory of the
// system instead, and writes its key into the handle. That of a real one finds nothing here.
func keyOf(handle []byte) string {
	key, _, _ := bytes.Cut(handle, []byte{0})
	return string(key)
}

// unregister forgets a region of a memory, or all; one that is not known is forgotten already.
func (s *regions) unregister(m memory, name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, r := range s.byID {
		if name != "" && id != name || r.status.memory != m {
			continue
		}
		if r.users > 0 {
			return &failure{http.StatusInternalServerError, codes.Internal, "Cannot unregister shared memory region '" + id + "', it is currently in use."}
		}
		unmapShared(r.bytes)
		delete(s.byID, id)
	}
	return nil
}

// list shows a region of a memory, or all.
func (s *regions) list(m memory, name string) ([]regionStatus, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch r := s.byID[name]; {
	case name == "":
	case r == nil:
		return nil, &failure{http.StatusNotFound, codes.NotFound, "Unable to find " + string(m) + " shared memory region: '" + name + "'"}
	case r.status.memory != m:
		return nil, &failure{http.StatusNotFound, codes.NotFound, "The region named '" + name + "' is registered as " + r.status.memory.title() + " shared memory, not " + m.title() + " shared memory"}
	}
	list := []regionStatus{}
	for id, r := range s.byID {
		if (name == "" || id == name) && r.status.memory == m {
			list = append(list, r.status)
		}
	}
	return list, nil
}

func unknownRegion(name string) error {
	return &failure{http.StatusNotFound, codes.NotFound, "Unable to find shared memory region: '" + name + "'"}
}

// close gives all mappings back; nothing is in flight.
func (s *regions) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.byID {
		unmapShared(r.bytes)
	}
	s.byID = nil
}

// place is where a request says that one of its tensors lies.
type place struct {
	region       string
	offset, size uint64
}

// regionUse is what one request uses of the regions. Done lets go of it.
type regionUse struct {
	of      *regions
	used    []*shared
	outputs map[string]place
}

func (h *regionUse) done() {
	h.of.mu.Lock()
	defer h.of.mu.Unlock()
	for _, r := range h.used {
		r.users--
	}
	h.used = nil
}

// find is the bytes of a place, which stay mapped until done. The caller has the lock.
func (h *regionUse) find(p place) ([]byte, error) {
	r := h.of.byID[p.region]
	if r == nil {
		return nil, unknownRegion(p.region)
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
func (h *regionUse) input(p place) ([]byte, error) {
	h.of.mu.Lock()
	defer h.of.mu.Unlock()
	b, err := h.find(p)
	return append([]byte(nil), b...), err
}

// output remembers where an output is to go.
func (h *regionUse) output(name string, p place) error {
	h.of.mu.Lock()
	defer h.of.mu.Unlock()
	_, err := h.find(p)
	if h.outputs == nil {
		h.outputs = map[string]place{}
	}
	h.outputs[name] = p
	return err
}

// put writes an output to its place. False: it goes into the reply.
func (h *regionUse) put(t tensor) (bool, error) {
	p, ok := h.outputs[t.name]
	if !ok {
		return false, nil
	}
	if uint64(len(t.data)) > p.size {
		return true, &failure{http.StatusInternalServerError, codes.Internal, "shared memory size specified with the request for output '" + t.name +
			"' (" + strconv.FormatUint(p.size, 10) + " bytes) should be at least " + strconv.Itoa(len(t.data)) + " bytes to hold the results"}
	}
	h.of.mu.Lock()
	defer h.of.mu.Unlock()
	b, err := h.find(p)
	copy(b, t.data)
	return true, err
}
