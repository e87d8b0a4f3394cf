package triton

import (
	"fmt"

	"github.com/sluice-bench/sluice/backends"
)

// memory is a kind of shared memory; shares.memory lists the kinds.
type memory struct {
	source
	path           string    // of the HTTP calls: /v2/PATH/region/NAME/register
	method         string    // of the gRPC calls: METHODRegister
	howToGetMore   string    // advice for a shortage
	mustUnregister bool      // it can be freed only after the server has released it
	refusals       []refusal // of registrations, by the server
}

// source allocates regions.
type source interface {
	// CheckFree returns an error if fewer than size bytes are free, before any are allocated.
	CheckFree(size int64) error
	// Make allocates a region of size bytes, all zero. The name is unique.
	Make(name string, size int64) (region, error)
}

// region is one piece of shared memory.
type region interface {
	// Write copies data to offset at.
	Write(at int64, data []byte) error
	// Read returns bytes at an offset, valid until the same range is read again.
	Read(at, size int64) ([]byte, error)
	// JSON and Message describe the region without its name, for the server: the body of the HTTP
	// call, and the fields of the gRPC message.
	JSON() any
	Message(dst []byte) []byte
	// Registered is called once the server has found the region: names needed only for that are
	// removed.
	Registered() error
	Close() error
}

// refusal maps a part of a server's refusal to advice about it.
type refusal struct{ words, advice string }

// memory returns the kind named by Sharing.Memory. It returns an error for an unknown kind or a GPU
// that cannot be used.
func (s *shares) memory(o *backends.Sharing) (*memory, error) {
	switch o.Memory {
	case "system":
		return systemMemory(), nil
	case "cuda":
		d, err := s.gpu(o.Device)
		if err != nil {
			return nil, err
		}
		return cudaMemory(d, o.Device), nil
	}
	return nil, fmt.Errorf("unknown kind of shared memory %s", o.Memory)
}

// commonRefusals returns the refusals that apply to memory of any kind.
func commonRefusals() []refusal {
	const allow, none = "start the server with --allow-client-shm=true", "it has no shared memory extension"
	return []refusal{
		{"allow-client-shm", allow},
		{"not allowed", allow},
		{"disabled", allow},
		{"Unimplemented", none},
		{"status 404", none},
	}
}
