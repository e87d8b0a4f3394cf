package triton

import (
	"fmt"

	"github.com/sluice-bench/sluice/backends"
)

// memory is a kind of memory that regions are made of: a case of shares.memory.
type memory struct {
	source
	path           string    // of the HTTP calls: /v2/PATH/region/NAME/register
	method         string    // of the gRPC calls: METHODRegister
	howToGetMore   string    // how there can be more of it
	mustUnregister bool      // it can be given back only when the server has let go of it
	refusals       []refusal // for which a server refuses
}

// source is where regions come from.
type source interface {
	// CheckFree reports that there is not as much, before any of it is taken.
	CheckFree(size int64) error
	// Make makes a region, all zero. The name is its own.
	Make(name string, size int64) (region, error)
}

// region is one piece of memory that the server is told of.
type region interface {
	// Write copies data to offset at.
	Write(at int64, data []byte) error
	// Read gives what lies there, valid until the same is read again.
	Read(at, size int64) ([]byte, error)
	// JSON and Message are how the server is told, without the region's name: the body of the HTTP call, and the fields of
	// the gRPC message.
	JSON() any
	Message(dst []byte) []byte
	// Registered says that the server has found the region: what was needed for that alone can go.
	Registered() error
	Close() error
}

// refusal is what to do about a refusal whose text holds words.
type refusal struct{ words, advice string }

// memory is that of Sharing.Memory.
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
	return nil, fmt.Errorf("there is no shared memory of the kind %s", o.Memory)
}

// commonRefusals are the reasons for which a server refuses memory of any kind.
func commonRefusals() []refusal {
	const allow, none = "start the server with --allow-client-shm=true", "it has no shared memory extension"
	return []refusal{
		{"allow-client-shm", allow}, {"not allowed", allow}, {"disabled", allow}, {"Unimplemented", none}, {"status 404", none},
	}
}
