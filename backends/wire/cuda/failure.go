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
	if advice := e.advice(); advice != "" {
		text += "; " + advice
	}
	return text
}

// Codes that a user can act on, with their numbers in cuda.h.
const (
	codeOutOfMemory       = 2
	codeStub              = 34
	codeDeviceUnavailable = 46
	codeNoDevice          = 100
	codeNotSupported      = 801
	codeDriverMismatch    = 803
	codeCompatibility     = 804
	codeUnknown           = 999
)

// advice returns what to do about a code, "" if unknown.
func (e *failure) advice() string {
	switch e.code {
	case codeOutOfMemory:
		return "the GPU's memory is taken: lower `output_size`, `max_in_flight` or the data, or give the " +
			"server less"
	case codeStub:
		return "a stub was found in the driver's place: take the folder of CUDA's stubs from LD_LIBRARY_PATH"
	case codeDeviceUnavailable:
		return "another process has the GPU for itself: `nvidia-smi -c DEFAULT` lets processes share it"
	case codeNoDevice:
		return "no GPU is seen: look at nvidia-smi and CUDA_VISIBLE_DEVICES; a container needs --gpus"
	case codeNotSupported:
		return "memory of this GPU cannot be shared between processes: use `shared_memory: system`"
	case codeDriverMismatch, codeCompatibility:
		return "the driver's library does not fit the one in the kernel: restart the machine after a change of " +
			"driver"
	case codeUnknown:
		return "the kernel's part of the driver may not be there: look at nvidia-smi; a container needs --gpus"
	}
	return ""
}
