package builtin

import (
	"encoding/base64"
	"fmt"
	"os"
	"strings"
	"testing"

	"google.golang.org/grpc/status"

	pb "github.com/sluice-bench/sluice/backends/builtin/internal/kservepb"
)

// TestSharedMemories: regions of both memories, told of over both protocols, have one set of names;
// each memory lists and forgets its own. The texts are Triton's.
func TestSharedMemories(t *testing.T) {
	s := start(t, Config{})
	key := fmt.Sprintf("/sluice-test-%d", os.Getpid())
	if err := os.WriteFile("/dev/shm"+key, make([]byte, 64), 0o600); err != nil {
		t.Fatal(err)
	}
	defer os.Remove("/dev/shm" + key)
	handle := append([]byte(key), make([]byte, 64-len(key))...)
	b64 := base64.StdEncoding.EncodeToString(handle)
	base := s.HTTPURL() + "/v2/"
	for _, c := range []struct{ path, body, want string }{
		{
			"cudasharedmemory/region/a/register", `{"raw_handle":{"b64":"` + b64 + `"},"device_id":3,"byte_size":64}`,
			"200 ",
		},
		{"systemsharedmemory/region/s/register", `{"key":"` + key + `","offset":0,"byte_size":64}`, "200 "},
		{
			"cudasharedmemory/region/s/register", `{"raw_handle":{"b64":"` + b64 + `"},"device_id":0,"byte_size":64}`,
			`400 {"error":"shared memory region 's' already in manager"}`,
		},
		{
			"cudasharedmemory/region/b/register", `{"raw_handle":{"b64":"` + b64 + `"},"device_id":0,"byte_size":65}`,
			`400 {"error":"failed to register shared memory region: invalid args"}`,
		},
		{
			"cudasharedmemory/region/b/register", `{"raw_handle":{"b64":"AAAA"},"device_id":0,"byte_size":64}`,
			`400 {"error":"'raw_handle' must be a valid base64 encoded cudaIpcMemHandle_t"}`,
		},
		{
			"cudasharedmemory/region/b/register", `{"device_id":0,"byte_size":64}`,
			`400 {"error":"Shared memory register request has no 'raw_handle' field"}`,
		},
		{"cudasharedmemory/status", "", `200 [{"byte_size":64,"device_id":3,"name":"a"}]`},
		{"systemsharedmemory/status", "", `200 [{"byte_size":64,"key":"` + key + `","name":"s","offset":0}]`},
		{
			"cudasharedmemory/region/nope/status", "",
			`404 {"error":"Unable to find cuda shared memory region: 'nope'"}`,
		},
		{
			"systemsharedmemory/region/nope/status", "",
			`404 {"error":"Unable to find system shared memory region: 'nope'"}`,
		},
		{
			"cudasharedmemory/region/s/status", "",
			`404 {"error":"The region named 's' is registered as system shared memory, not CUDA shared memory"}`,
		},
		{
			"systemsharedmemory/region/a/status", "",
			`404 {"error":"The region named 'a' is registered as CUDA shared memory, not system shared memory"}`,
		},
		{"systemsharedmemory/region/a/unregister", "{}", "200 "}, // it is none of its own
		{"cudasharedmemory/region/a/status", "", `200 [{"byte_size":64,"device_id":3,"name":"a"}]`},
		{"cudasharedmemory/unregister", "{}", "200 "},
		{"cudasharedmemory/status", "", "200 []"},
	} {
		a := answer{}
		if c.body == "" {
			a = get(t, base+c.path)
		} else {
			a = post(t, base+c.path, c.body)
		}
		if got := fmt.Sprintf("%d %s", a.status, strings.TrimSpace(string(a.body))); got != c.want {
			t.Errorf("%s %s:\n%s\nwant\n%s", c.path, c.body, got, c.want)
		}
	}
	g := dial(t, s)
	if _, err := g.CudaSharedMemoryRegister(t.Context(),
		&pb.CudaSharedMemoryRegisterRequest{Name: "g", RawHandle: handle, DeviceId: 1, ByteSize: 64}); err != nil {
		t.Error(err)
	}
	list, err := g.CudaSharedMemoryStatus(t.Context(), &pb.CudaSharedMemoryStatusRequest{})
	if r := list.GetRegions()["g"]; err != nil || len(list.Regions) != 1 || r.GetDeviceId() != 1 ||
		r.GetByteSize() != 64 {
		t.Errorf("%v: %v", list, err)
	}
	for _, bad := range []*pb.CudaSharedMemoryRegisterRequest{
		{Name: "x", RawHandle: handle[:63], ByteSize: 64},
		{Name: "x", RawHandle: handle, DeviceId: -1, ByteSize: 64},
		{Name: "x", RawHandle: make([]byte, 64), ByteSize: 64},
	} {
		if _, err := g.CudaSharedMemoryRegister(t.Context(),
			bad); status.Convert(err).Message() != "failed to register shared memory region: invalid args" {
			t.Errorf("%v: %v", bad, err)
		}
	}
	if _, err := g.CudaSharedMemoryStatus(t.Context(),
		&pb.CudaSharedMemoryStatusRequest{Name: "s"}); err == nil {
		t.Error("a region of the system was shown as one of a GPU")
	}
	if _, err := g.CudaSharedMemoryUnregister(t.Context(),
		&pb.CudaSharedMemoryUnregisterRequest{Name: "g"}); err != nil {
		t.Error(err)
	}
}
