package triton

import (
	"fmt"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/protow"
	"github.com/sluice-bench/sluice/backends/wire/shm"
)

// memory is a kind of memory that regions are made of: a case of memoryOf.
type memory struct {
	path    string // of the HTTP calls: /v2/PATH/region/NAME/register
	method  string // of the gRPC calls: METHODRegister
	make    func(o *backends.Sharing, name string, size int64) (region, error)
	room    func(size int64) error // whether there is as much, before any of it is taken
	reasons []reason               // for which a server refuses
	// readable says that outputs can be compared where they lie.
	readable bool
}

// reason is what to do about a refusal whose text holds words.
type reason struct{ words, advice string }

// region is one piece of memory that the server is told of.
type region interface {
	// Put copies data to offset at, before the server knows of the region.
	Put(at int64, data []byte) error
	// Bytes are those of the region, nil where they cannot be read.
	Bytes() []byte
	// JSON and Message are how the server is told, without the region's name: the body of the HTTP call, and the fields of
	// the gRPC message.
	JSON() any
	Message(dst []byte) []byte
	// Known says that the server has found the region: what was needed for that alone can go.
	Known() error
	Close() error
}

// memoryOf is the memory of Sharing.Memory.
func memoryOf(kind string) (*memory, error) {
	switch kind {
	case "system":
		return &memory{
			path: "systemsharedmemory", method: "SystemSharedMemory", make: newSystemRegion, room: shm.Room, reasons: systemReasons, readable: true,
		}, nil
	}
	return nil, fmt.Errorf("shared memory of the kind %s cannot be had in this build", kind)
}

const allowShared = "start the server with --allow-client-shm=true"

var systemReasons = []reason{
	{
		"Unable to open shared memory region",
		"it does not see the shared memory of this machine: run both on one machine, and a server in a container with --ipc=host, or with /dev/shm mounted from here",
	},
	{"allow-client-shm", allowShared},
	{"not allowed", allowShared},
	{"disabled", allowShared},
	{"Unimplemented", "it has no shared memory extension"},
	{"status 404", "it has no shared memory extension"},
}

// systemRegion is shared memory of the system.
type systemRegion struct{ *shm.Region }

func newSystemRegion(_ *backends.Sharing, name string, size int64) (region, error) {
	r, err := shm.New("/"+name, size)
	if err != nil {
		return nil, err
	}
	return systemRegion{r}, nil
}

// Put implements region.
func (r systemRegion) Put(at int64, data []byte) error {
	copy(r.Bytes()[at:], data)
	return nil
}

// JSON implements region.
func (r systemRegion) JSON() any {
	return struct {
		Key    string `json:"key"`
		Offset int64  `json:"offset"`
		Size   int    `json:"byte_size"`
	}{r.Key(), 0, len(r.Bytes())}
}

// Message implements region. SystemSharedMemoryRegisterRequest: name 1, key 2, offset 3, byte_size 4.
func (r systemRegion) Message(dst []byte) []byte {
	return protow.AppendUint(protow.AppendString(dst, 2, r.Key()), 4, uint64(len(r.Bytes())))
}

// Known implements region.
func (r systemRegion) Known() error { return r.Unlink() }
