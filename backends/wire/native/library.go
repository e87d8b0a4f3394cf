//go:build inprocess || cuda

package native

import (
	"fmt"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"
)

// Library is one that is loaded into this process, for as long as that lives: its threads and what it registered with others
// cannot be taken back.
type Library struct {
	path   string
	handle uintptr
}

// Open loads a library by its path, or by its name as the system's loader finds it. Libraries that come later may use its
// symbols.
func Open(path string) (*Library, error) {
	handle, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		return nil, fmt.Errorf("load %s: %s", path, strings.TrimPrefix(err.Error(), path+": "))
	}
	return &Library{path: path, handle: handle}, nil
}

// Function is the address of a function.
func (l *Library) Function(name string) (uintptr, error) {
	at, err := purego.Dlsym(l.handle, name)
	if err != nil {
		return 0, fmt.Errorf("%s has no %s", l.path, name)
	}
	return at, nil
}

// Bind makes *function, of a Go type that fits, call the function at an address: the way for what takes floating-point
// numbers, and slower than Call.
func Bind(function any, at uintptr) { purego.RegisterFunc(function, at) }

// Call calls a function that takes and gives integers and pointers. Pointers to Go's memory are Address's; what C keeps must be
// pinned by the caller.
func Call(function uintptr, args ...uintptr) uintptr {
	result, _, _ := purego.SyscallN(function, args...)
	return result
}

// Frame is the place for the arguments of a call, which else is made for each. Who calls often keeps one; one call at a time.
type Frame [12]uintptr

// Call is as the function Call.
func (f *Frame) Call(function uintptr, args ...uintptr) uintptr {
	if len(args) > len(f) {
		panic("native: too many arguments")
	}
	return Call(function, f[:copy(f[:], args)]...)
}

// Callback makes a Go function callable from C, from any thread. There is room for 2000 in a process, and none is given back.
func Callback(function any) uintptr { return purego.NewCallback(function) }

// pointer is an address that C gave.
func pointer(at uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&at)) }

// At is what lies at an address that C gave.
func At[T any](at uintptr) *T { return (*T)(pointer(at)) }

// Slice is n elements at an address that C gave. They are C's: valid as long as it says.
func Slice[T any](at uintptr, n int) []T {
	if at == 0 || n <= 0 {
		return nil
	}
	return unsafe.Slice((*T)(pointer(at)), n)
}

// String is the text at an address, without the zero byte that ends it. It is C's, as Slice's elements are.
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

// Text is a text as C wants it. The address is Address's.
func Text(s string) []byte { return append([]byte(s), 0) }

// Address is that of the first element, 0 where there is none. Who passes it to C keeps the slice alive, and pins it where C
// keeps the address.
func Address[T any](s []T) uintptr {
	if len(s) == 0 {
		return 0
	}
	return escape(uintptr(unsafe.Pointer(&s[0])))
}

// escape gives an address back. Its directive makes the compiler put what lies there on the heap: the stack of a goroutine may
// move on the way to C.
//
//go:uintptrescapes
//go:noinline
func escape(at uintptr) uintptr { return at }
