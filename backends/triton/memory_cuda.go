package triton

import (
	"fmt"

	"github.com/sluice-bench/sluice/backends/wire/cuda"
	"github.com/sluice-bench/sluice/backends/wire/protow"
)

// cudaMemory returns the memory of a GPU.
func cudaMemory(d *cuda.Device, number int) *memory {
	elsewhere := fmt.Sprintf("it does not reach GPU %d of this machine: run both on one machine, where "+
		"CUDA_VISIBLE_DEVICES gives that GPU the same number to both, "+
		"and a server in a container with --gpus, --ipc=host and --pid=host", number)
	return &memory{
		source: gpu{d, number}, path: "cudasharedmemory", method: "CudaSharedMemory", mustUnregister: true,
		howToGetMore: "use a GPU that has more with `device`",
		refusals: append([]refusal{
			{"GPUs not supported", "it was built without GPUs: use `shared_memory: system`"},
			{"invalid args", elsewhere},
			{"CUDA IPC handle", elsewhere},
		}, commonRefusals()...),
	}
}

// gpu allocates regions on a GPU. The server knows it by the same number.
type gpu struct {
	*cuda.Device
	device int
}

// Make implements source. Only the server uses the name: it opens the region by its handle.
func (g gpu) Make(_ string, size int64) (region, error) {
	r, err := g.New(size)
	if err != nil {
		return nil, fmt.Errorf("shared memory: %w", err)
	}
	return &cudaRegion{Region: r, device: g.device}, nil
}

// cudaRegion is a piece of GPU memory.
type cudaRegion struct {
	*cuda.Region
	device int
	copied []byte // copy of what was read, each byte at its own offset; it grows once
}

// Read implements region.
func (r *cudaRegion) Read(at, size int64) ([]byte, error) {
	if r.copied == nil {
		r.copied = make([]byte, r.Size())
	}
	into := r.copied[at : at+size]
	return into, r.Region.Read(at, into)
}

// JSON implements region.
func (r *cudaRegion) JSON() any {
	type raw struct {
		Handle []byte `json:"b64"`
	}
	return struct {
		Raw    raw   `json:"raw_handle"`
		Device int   `json:"device_id"`
		Size   int64 `json:"byte_size"`
	}{raw{r.Handle()}, r.device, r.Size()}
}

// Message implements region. CudaSharedMemoryRegisterRequest: name 1, raw_handle 2, device_id 3,
// byte_size 4.
func (r *cudaRegion) Message(dst []byte) []byte {
	dst = protow.AppendUint(protow.AppendString(dst, 2, r.Handle()), 3, uint64(r.device))
	return protow.AppendUint(dst, 4, uint64(r.Size()))
}

// Registered implements region: the server no longer needs the handle, which costs this process
// nothing.
func (r *cudaRegion) Registered() error { return nil }
