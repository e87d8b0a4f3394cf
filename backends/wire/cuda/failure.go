//go:build cuda && linux

package cuda

import "fmt"

// failure is an error of a driver function.
type failure struct {
	call string // name of the function
	code int    // its number in cuda.h
	name string // name of the code, "" if the driver does not know it
	text string
}

func (e *failure) Error() string {
	text := fmt.Sprintf("%s: error %d", e.call, e.code)
	if e.name != "" {
		text = fmt.Sprintf("%s: %s (%d): %s", e.call, e.name, e.code, e.text)
	}
	if do := advice[e.code]; do != "" {
		text += "; " + do
	}
	return text
}

// advice says what to do about a code of cuda.h.
var advice = map[int]string{
	2: "the GPU's memory is taken: lower `output_size`, `max_in_flight` or the data, or give the " +
		"server less", // out of memory
	34:  "a stub was found in the driver's place: take the folder of CUDA's stubs from LD_LIBRARY_PATH",
	46:  "another process has the GPU for itself: `nvidia-smi -c DEFAULT` lets processes share it",
	100: "no GPU is seen: look at nvidia-smi and CUDA_VISIBLE_DEVICES; a container needs --gpus",
	801: "memory of this GPU cannot be shared between processes: use `shared_memory: system`",
	803: driverMismatch,
	804: driverMismatch, // forward compatibility
	999: "the kernel's part of the driver may not be there: look at nvidia-smi; a container needs --gpus",
}

const driverMismatch = "the driver's library does not fit the one in the kernel: restart the machine after " +
	"a change of driver"
