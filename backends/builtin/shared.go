package builtin

import (
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

// regionStatus is a region as both protocols show it.
type regionStatus struct {
	Name   string `json:"name"`
	Key    string `json:"key"`
	Offset uint64 `json:"offset"`
	Size   uint64 `json:"byte_size"`
}

// maxRegion bounds what one registration maps.
const maxRegion = 1 << 40

// register maps a region.
func (s *regions) register(r regionStatus) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byID[r.Name] != nil {
		return &failure{http.StatusBadRequest, codes.AlreadyExists, "shared memory region '" + r.Name + "' already in manager"}
	}
	if r.Size == 0 || r.Size > maxRegion || r.Offset > maxRegion {
		return invalid("invalid size of shared memory region: '%s'", r.Name)
	}
	bytes, err := mapShared(r.Key, int64(r.Offset), int(r.Size))
	if err != nil {
		return &failure{http.StatusInternalServerError, codes.Internal, "Unable to open shared memory region: '" + r.Key + "'"}
	}
	if s.byID == nil {
		s.byID = map[string]*shared{}
	}
	s.byID[r.Name] = &shared{status: r, bytes: bytes}
	return nil
}

// unregister forgets a region, or all; one that is not known is forgotten already.
func (s *regions) unregister(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, r := range s.byID {
		if name != "" && id != name {
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

// list shows a region, or all.
func (s *regions) list(name string) ([]regionStatus, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if name != "" && s.byID[name] == nil {
		return nil, unknownRegion(name)
	}
	list := []regionStatus{}
	for id, r := range s.byID {
		if name == "" || id == name {
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

// hold is what one request uses of the regions. Done lets go of it.
type hold struct {
	of      *regions
	used    []*shared
	outputs map[string]place
}

func (h *hold) done() {
	h.of.mu.Lock()
	defer h.of.mu.Unlock()
	for _, r := range h.used {
		r.users--
	}
	h.used = nil
}

// find is the bytes of a place, which stay mapped until done. The caller has the lock.
func (h *hold) find(p place) ([]byte, error) {
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
func (h *hold) input(p place) ([]byte, error) {
	h.of.mu.Lock()
	defer h.of.mu.Unlock()
	b, err := h.find(p)
	return append([]byte(nil), b...), err
}

// output remembers where an output is to go.
func (h *hold) output(name string, p place) error {
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
func (h *hold) put(t tensor) (bool, error) {
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
