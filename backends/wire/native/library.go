//go:build inprocess || cuda

package native

import (
	"fmt"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"
)

// Library is a C library that is loaded into this process for the rest of its life: its threads and
// what it registered elsewhere cannot be undone.
type Library struct {
	path   string
	handle uintptr
}

// Open loads a library by its path, or by its name as the system's loader finds it. Libraries that
// are loaded later may use its symbols.
func Open(path string) (*Library, error) {
	handle, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		return nil, fmt.Errorf("load %s: %s", path, strings.TrimPrefix(err.Error(), path+": "))
	}
	return &Library{path: path, handle: handle}, nil
}

// Function returns the address of a function.
func (l *Library) Function(name string) (uintptr, error) {
	at, err := purego.Dlsym(l.handle, name)
	if err != nil {
		return 0, fmt.Errorf("%s has no %s", l.path, name)
	}
	return at, nil
}

// Bind makes *function, of a matching Go type, call the C function at an address. It supports
// floating-point numbers and is slower than Call.
func Bind(function any, at uintptr) { purego.RegisterFunc(function, at) }

// Call calls a function with integer and pointer arguments and result. Use Address for pointers to
// Go memory; the caller pins what C keeps.
func Call(function uintptr, args ...uintptr) uintptr {
	result, _, _ := purego.SyscallN(function, args...)
	return result
}

// Frame is reusable memory for the arguments of a call; without it each call allocates. One call at
// a time.
type Frame [12]uintptr

// Call is the function Call without its allocation.
func (f *Frame) Call(function uintptr, args ...uintptr) uintptr {
	if len(args) > len(f) {
		panic("native: too many arguments")
	}
	return Call(function, f[:copy(f[:], args)]...)
}

// Callback makes a Go function callable from C, from any thread. A process can have 2000 of them;
// they are never released.
func Callback(function any) uintptr { return purego.NewCallback(function) }

// pointer converts an address from C.
func pointer(at uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&at)) }

// At returns a pointer to the T at an address from C.
func At[T any](at uintptr) *T { return (*T)(pointer(at)) }

// Slice returns n elements at an address from C. C owns them and decides how long they are valid.
func Slice[T any](at uintptr, n int) []T {
	if at == 0 || n <= 0 {
		return nil
	}
	return unsafe.Slice((*T)(pointer(at)), n)
}

// String returns the text at an address, without its terminating zero byte. C owns it.
func String(at uintptr) []byte {
	if at == 0 {
		return nil
	}
	n := 0
	for *(*byte)(pointer(at + uintptr(n))) != 0 {
		n++
	}
	return Slice[byte](at, n)
}

// Text returns s as a C string. Pass it with Address.
func Text(s string) []byte { return append([]byte(s), 0) }

// Address returns the address of the first element, 0 if there is none. The caller keeps the slice
// alive during the call, and pins it if C keeps the address.
func Address[T any](s []T) uintptr {
	if len(s) == 0 {
		return 0
	}
	return escape(uintptr(unsafe.Pointer(&s[0])))
}

// escape returns the address. Its directive makes the compiler allocate the memory on the heap: the
// stack of a goroutine may move on the way to C.
//
//go:uintptrescapes
//go:noinline
func escape(at uintptr) uintptr { return at }
