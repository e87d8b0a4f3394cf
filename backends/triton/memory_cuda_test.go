//go:build cuda && linux

package triton

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/backendtest/cudatest"
	"github.com/sluice-bench/sluice/backends/builtin"
	"github.com/sluice-bench/sluice/backends/wire/native"
)

// graphic is a machine with two GPUs, and a server on it that both protocols reach. What it is
// asked over HTTP stands among the driver's calls.
type graphic struct {
	*cudatest.Driver
	server *builtin.Server
	http   string
}

func newGraphic(t *testing.T) *graphic {
	t.Helper()
	g := &graphic{Driver: cudatest.Compile(t)}
	if _, err := native.Open(g.Library()); err != nil {
		t.Fatal(err)
	}
	s, err := builtin.Start(t.Context(), builtin.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	behind, err := url.Parse(s.HTTPURL())
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(behind)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if path, ok := strings.CutPrefix(r.URL.Path, "/v2/cudasharedmemory/region/"); ok {
			body, _ := io.ReadAll(r.Body)
			r.Body = io.NopCloser(bytes.NewReader(body))
			g.Note(t, "server: "+path[strings.LastIndex(path, "-")+1:]+registration(body))
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections)
	g.server, g.http = s, front.URL
	return g
}

// registration is what a client says of a region, its handle as the name that the stand-in has
// written there.
func registration(body []byte) string {
	var said struct {
		Raw struct {
			Handle string `json:"b64"`
		} `json:"raw_handle"`
		Device int `json:"device_id"`
		Size   int `json:"byte_size"`
	}
	if len(body) == 0 || json.Unmarshal(body, &said) != nil {
		return ""
	}
	handle, err := base64.StdEncoding.DecodeString(said.Raw.Handle)
	name, _, _ := bytes.Cut(handle, []byte{0})
	return fmt.Sprintf(" %s of %d, GPU %d, %d bytes, %v",
		name[bytes.LastIndexByte(name, '-')+1:], len(handle), said.Device, said.Size, err)
}

// regions are those of GPU 1 that the server still has; there are no others.
func (g *graphic) regions(t *testing.T) int {
	t.Helper()
	regions := cudatest.Regions(t, g.server.HTTPURL())
	n := regions[1]
	if delete(regions, 1); len(regions) > 0 {
		t.Errorf("regions of other GPUs: %v", regions)
	}
	return n
}

// connected does something on a connection of its own.
func connected(t *testing.T, url string, do func(backends.Conn) error) error {
	c, err := Kind().Open(t.Context(), backends.Target{URL: url, Model: "simple"},
		backends.Clock{Origin: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	return errors.Join(do(c), c.Close(t.Context()))
}

// shareOnce shares tensors of the model simple for two slots of GPU 1, and releases them.
func (g *graphic) shareOnce(t *testing.T, url string) error {
	return connected(t, url, func(c backends.Conn) error { return g.shareOn(t, c) })
}

func (g *graphic) shareOn(t *testing.T, c backends.Conn) error {
	o := sharing
	o.Memory, o.Device = "cuda", 1
	calls, release, err := openShared(t, c, o, 2, addSub)
	if err != nil {
		if release != nil {
			t.Error("a release of nothing")
		}
		return err
	}
	names, err := c.(control).registered(t.Context(),
		&memory{path: "cudasharedmemory", method: "CudaSharedMemory"})
	if n := g.regions(t); len(calls) != 1 || n != 3 || len(names) != 3 ||
		!strings.HasPrefix(names[0], "sluice-") {
		t.Errorf("%d calls, %d regions, %q: %v", len(calls), n, names, err)
	}
	g.Note(t, "released")
	return release(t.Context())
}

// makes are the calls that make region n.
func makes(n, size int) string {
	return fmt.Sprintf(`cuCtxPushCurrent_v2(gpu1)
cuMemAlloc_v2(%[2]d) r%[1]d
cuMemsetD8_v2(r%[1]d+0, 0, %[2]d)
cuCtxSynchronize()
cuIpcGetMemHandle(r%[1]d)
cuCtxPopCurrent_v2()
`, n, size)
}

const begins = `cuInit(0)
cuDeviceGetCount() 2
cuDeviceGet(1)
cuDevicePrimaryCtxRetain(1)
cuCtxPushCurrent_v2(gpu1)
cuMemGetInfo_v2()
cuCtxPopCurrent_v2()
`

// wholeCalls is what sharing two inputs of 128 bytes and two slots of 2176 takes, and what becomes
// of it.
func wholeCalls(server bool) string {
	free := func(n int) string {
		return fmt.Sprintf("cuCtxPushCurrent_v2(gpu1)\ncuMemFree_v2(r%d)\ncuCtxPopCurrent_v2()\n", n)
	}
	in := func(at int) string {
		return fmt.Sprintf("cuCtxPushCurrent_v2(gpu1)\ncuMemcpyHtoD_v2(r1+%d, 128)\n"+
			"cuCtxSynchronize()\ncuCtxPopCurrent_v2()\n", at)
	}
	text := begins +
		makes(1, 256) + "server: in/register 1 of 64, GPU 1, 256 bytes, <nil>\n" +
		makes(2, 2176) + "server: 000000/register 2 of 64, GPU 1, 2176 bytes, <nil>\n" +
		makes(3, 2176) + "server: 000001/register 3 of 64, GPU 1, 2176 bytes, <nil>\n" +
		in(0) + in(128) + "released\n" +
		"server: in/unregister\nserver: 000000/unregister\nserver: 000001/unregister\n" +
		free(1) + free(2) + free(3) + "cuDevicePrimaryCtxRelease_v2(1)\n"
	if server {
		return text
	}
	var lines []string
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "server:") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}

// TestCUDA is all of one process, as the driver can be loaded but once: each call and its order,
// when all goes well and when any one of them fails.
func TestCUDA(t *testing.T) {
	g := newGraphic(t)
	for _, url := range []string{g.http, g.server.GRPCURL()} {
		protocol := url[:4]
		t.Run(protocol+"/calls", func(t *testing.T) {
			g.Reset(t, "", 2)
			if err := g.shareOnce(t, url); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(wholeCalls(protocol == "http"), g.Calls(t)); diff != "" {
				t.Error(diff)
			}
			g.nothing(t, "")
		})
		t.Run(protocol+"/failures", func(t *testing.T) { g.failures(t, url) })
	}
	t.Run("refused", func(t *testing.T) { g.refused(t) })
	t.Run("still in use", func(t *testing.T) { g.inUse(t) })
	t.Run("read", func(t *testing.T) { g.read(t) })
}

func (g *graphic) nothing(t *testing.T, want string) {
	t.Helper()
	if left := g.Left(t); left != want || g.regions(t) != 0 {
		t.Errorf("left: %s, %d regions, want %q\n%s", left, g.regions(t), want, g.Calls(t))
	}
}

// failures lets each call of the driver fail in turn.
func (g *graphic) failures(t *testing.T, url string) {
	for i, line := range strings.Split(strings.ReplaceAll(strings.TrimSpace(wholeCalls(false)), "released\n",
		""), "\n") {
		g.Reset(t, fmt.Sprintf("* %d 700", i+1), 2)
		function, _, _ := strings.Cut(line, "(")
		if err := g.shareOnce(t, url); err == nil ||
			!strings.Contains(err.Error(), function+": CUDA_ERROR_ILLEGAL_ADDRESS (700)") {
			t.Errorf("%d %s: %v", i, function, err)
		}
		want := "" // what the failing call alone was to give back
		switch function {
		case "cuCtxPopCurrent_v2":
			want = "memory [], contexts 0, current 1"
		case "cuDevicePrimaryCtxRelease_v2":
			want = "memory [], contexts 1, current 0"
		}
		g.nothing(t, want)
	}
}

// refused are servers that take no region, and what comes of the memory then: it is given back
// after they were asked to forget it.
func (g *graphic) refused(t *testing.T) {
	for text, advice := range map[string]string{
		"failed to register CUDA shared memory region: 'x', GPUs not supported": "it was built without GPUs",
		"failed to register shared memory region: invalid args": "it does not reach GPU 1 of " +
			"this machine",
		"shared memory is disabled; use --allow-client-shm=true": "start the server with " +
			"--allow-client-shm=true",
	} {
		g.Reset(t, "", 2)
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			what := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
			g.Note(t, "server: "+what)
			if what == "register" && strings.Contains(r.URL.Path, "-000000") {
				w.WriteHeader(http.StatusBadRequest)
				_, _ = fmt.Fprintf(w, `{"error":%q}`, text)
			}
		}))
		if err := g.shareOnce(t, s.URL); err == nil ||
			!strings.Contains(err.Error(), "does not take cuda shared memory") ||
			!strings.Contains(err.Error(), advice) {
			t.Errorf("%s: %v", text, err)
		}
		s.Close()
		calls := g.Calls(t)
		const unregister = "server: unregister"
		forgotten, freed := strings.LastIndex(calls, unregister), strings.Index(calls, "cuMemFree_v2")
		if strings.Count(calls, unregister) != 2 || forgotten > freed {
			t.Errorf("%s:\n%s", text, calls)
		}
		g.nothing(t, "")
	}
	g.Reset(t, "", 2)
	o := sharing
	o.Memory = "cuda"
	err := connected(t, g.server.GRPCURL(), func(c backends.Conn) error {
		_, _, err := openShared(t, c, o, 40_000, addSub)
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "GPU 0 has 64MiB free") ||
		!strings.Contains(err.Error(), "use a GPU that has more with `device`") {
		t.Errorf("more than there is: %v", err)
	}
	g.nothing(t, "")
}

// inUse is a server that takes the call to forget a region and still works with it: the memory is
// given back afterwards.
func (g *graphic) inUse(t *testing.T) {
	g.Reset(t, "", 2)
	var last string
	asked := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch parts := strings.Split(r.URL.Path, "/"); parts[len(parts)-1] {
		case "unregister":
			last = parts[len(parts)-2]
		case "status":
			asked++
			g.Note(t, "server: status")
			if asked < 3 {
				_, _ = fmt.Fprintf(w,
					`[{"name":"theirs","device_id":0,"byte_size":1},{"name":%q,"device_id":1,"byte_size":2176}]`, last)
				return
			}
			_, _ = io.WriteString(w, `[{"name":"theirs","device_id":0,"byte_size":1}]`)
		}
	}))
	defer s.Close()
	o := sharing
	o.Memory = "cuda"
	err := connected(t, s.URL, func(c backends.Conn) error {
		_, release, err := openShared(t, c, o, 3, addSub)
		if err == nil {
			err = release(t.Context())
		}
		return err
	})
	if err != nil || asked != 3 {
		t.Errorf("asked %d times: %v", asked, err)
	}
	if calls := g.Calls(t); strings.LastIndex(calls, "server: status") > strings.Index(calls, "cuMemFree_v2") {
		t.Error(calls)
	}
	g.nothing(t, "")
}

// read: what another process has written there is read back, and only what is asked for is copied;
// a driver that fails says so.
func (g *graphic) read(t *testing.T) {
	g.Reset(t, "cuMemcpyDtoH_v2 3 700", 2)
	all := new(shares)
	d, err := all.gpu(1)
	if err != nil {
		t.Fatal(err)
	}
	r, err := cudaMemory(d, 1).Make("any", 300)
	if err != nil {
		t.Fatal(err)
	}
	name, _, _ := bytes.Cut(r.(*cudaRegion).Handle(), []byte{0})
	f, err := os.OpenFile("/dev/shm"+string(name), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte("theirs"), 200); err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	first, err := r.Read(200, 6)
	second, err2 := r.Read(0, 4)
	if err := errors.Join(err, err2); err != nil || string(first) != "theirs" ||
		!bytes.Equal(second, make([]byte, 4)) {
		t.Errorf("%q %q %v", first, second, err)
	}
	if _, err := r.Read(0, 4); err == nil || !strings.Contains(err.Error(), "CUDA_ERROR_ILLEGAL_ADDRESS (700)") {
		t.Errorf("a driver that fails: %v", err)
	}
	if calls := g.Calls(t); !strings.Contains(calls, "cuMemcpyDtoH_v2(r1+200, 6)\n") ||
		strings.Count(calls, "DtoH") != 3 {
		t.Error(calls)
	}
	if err := errors.Join(r.Close(), all.close()); err != nil {
		t.Error(err)
	}
	g.nothing(t, "")
}
