//go:build inprocess

package inprocess

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/sluice-bench/sluice/backends"

	"github.com/sluice-bench/sluice/backends/wire/native"
	"github.com/sluice-bench/sluice/scenario/regular"
)

// The required version of the C API: the library must have this major and at least this minor
// version, which introduced the cancellation of requests.
const (
	apiMajor = 1
	apiMinor = 24
)

// functions are the called functions of the library, named as in its header without TRITONSERVER_.
type functions struct {
	ApiVersion, ErrorNew, ErrorCode, ErrorMessage, ErrorDelete, MessageSerializeToJson, MessageDelete,
	ServerOptionsNew, ServerOptionsDelete, ServerOptionsSetModelRepositoryPath,
	ServerNew, ServerStop, ServerDelete,
	ServerIsLive, ServerIsReady, ServerModelIsReady, ServerMetadata, ServerModelMetadata, ServerModelConfig,
	ServerModelStatistics, ServerModelIndex, ServerLoadModel, ServerUnloadModel, ServerInferAsync,
	ResponseAllocatorNew, ResponseAllocatorDelete, InferenceRequestNew, InferenceRequestDelete,
	InferenceRequestCancel,
	InferenceRequestSetId, InferenceRequestSetFlags, InferenceRequestSetCorrelationId,
	InferenceRequestSetCorrelationIdString,
	InferenceRequestSetPriorityUInt64, InferenceRequestSetTimeoutMicroseconds, InferenceRequestAddInput,
	InferenceRequestAppendInputData, InferenceRequestAddRequestedOutput, InferenceRequestSetStringParameter,
	InferenceRequestSetIntParameter, InferenceRequestSetBoolParameter, InferenceRequestSetDoubleParameter,
	InferenceRequestSetReleaseCallback, InferenceRequestSetResponseCallback, InferenceResponseError,
	InferenceResponseOutputCount, InferenceResponseOutput, InferenceResponseDelete uintptr

	malloc, free uintptr
	setDouble    func(request, name uintptr, value float64) uintptr
}

// library is Triton's loaded library.
type library struct {
	functions
	native *native.Library
}

// libraryIn returns the path of the library in a server directory.
func libraryIn(dir string) string { return filepath.Join(dir, "lib", "libtritonserver.so") }

// find returns an error if a server directory has no library.
func find(dir string) error {
	if _, err := regular.Stat(libraryIn(dir)); err != nil {
		return &backends.KeyError{Key: "server_dir", Err: fmt.Errorf("no Triton found in %s: %w", dir, err)}
	}
	return nil
}

// loadLibrary loads the library of a server directory and checks its version.
func loadLibrary(dir string) (*library, error) {
	path := libraryIn(dir)
	n, err := native.Open(path)
	if err != nil {
		return nil,
			fmt.Errorf("inprocess.server_dir: %w; what the library itself needs must be where the system's "+
				"loader looks, as LD_LIBRARY_PATH says when sluice starts", err)
	}
	l := &library{native: n}
	if err := l.find(); err != nil {
		return nil, err
	}
	var version [2]uint32
	if err := l.check(native.Call(l.ApiVersion, native.Address(version[:1]),
		native.Address(version[1:]))); err != nil {
		return nil, err
	}
	if version[0] != apiMajor || version[1] < apiMinor {
		return nil,
			fmt.Errorf("%s has version %d.%d of Triton's C API; %d.%d or a later %d.x is needed",
				path, version[0], version[1], apiMajor, apiMinor, apiMajor)
	}
	return l, nil
}

// serverError is an error of the library.
type serverError struct {
	status int32 // the gRPC status code
	text   string
}

func (e *serverError) Error() string { return e.text }

// statuses maps Triton's error codes to the gRPC statuses with which its front end answers.
var statuses = [...]int32{2, 13, 5, 3, 14, 12, 6, 1}

const statusCancelled = 1

func statusOf(code uintptr) int32 {
	if code < uintptr(len(statuses)) {
		return statuses[code]
	}
	return statuses[0]
}

// check converts a TRITONSERVER_Error to an error, and deletes it.
func (l *library) check(at uintptr) error {
	if at == 0 {
		return nil
	}
	err := &serverError{
		status: statusOf(native.Call(l.ErrorCode, at) & 0xffffffff),
		text:   strings.TrimSpace(string(native.String(native.Call(l.ErrorMessage, at)))),
	}
	native.Call(l.ErrorDelete, at)
	return err
}

// message returns the JSON of a function whose last argument receives a TRITONSERVER_Message.
func (l *library) message(function uintptr, args ...uintptr) ([]byte, error) {
	out := make([]uintptr, 3)
	if err := l.check(native.Call(function, append(args, native.Address(out))...)); err != nil {
		return nil, err
	}
	defer native.Call(l.MessageDelete, out[0])
	if err := l.check(native.Call(l.MessageSerializeToJson, out[0], native.Address(out[1:]),
		native.Address(out[2:]))); err != nil {
		return nil, err
	}
	return append([]byte(nil), native.Slice[byte](out[1], int(out[2]))...), nil
}

// boolResult returns the bool that a function stores at its last argument.
func (l *library) boolResult(function uintptr, args ...uintptr) (bool, error) {
	out := make([]bool, 1)
	err := l.check(native.Call(function, append(args, native.Address(out))...))
	return out[0], err
}
