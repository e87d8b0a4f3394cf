package main

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends/backendtest/cases"
)

// vast is a server of one model whose replies are too large: over HTTP and gRPC, on one port.
type vast struct {
	bomb []byte // 4 GiB of spaces, compressed
}

const mib = 1 << 20

func newVast(t *testing.T) (v *vast, address string) {
	t.Helper()
	var member bytes.Buffer
	z := gzip.NewWriter(&member)
	if _, err := z.Write(bytes.Repeat([]byte(" "), 16*mib)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	v = &vast{bomb: bytes.Repeat(member.Bytes(), 256)}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{
		Handler: v, Protocols: new(http.Protocols), ErrorLog: discard(),
		ReadHeaderTimeout: time.Minute,
	}
	s.Protocols.SetHTTP1(true)
	s.Protocols.SetUnencryptedHTTP2(true)
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() { _ = s.Close() })
	return v, l.Addr().String()
}

// ServeHTTP implements http.Handler. The last part of a model's name says how its replies are.
func (v *vast) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.ProtoMajor == 2 {
		v.call(w, r)
		return
	}
	switch path := r.URL.Path; {
	case path == "/v2":
		fmt.Fprint(w, `{"extensions":["binary_tensor_data"]}`)
	case strings.HasSuffix(path, "/infer"):
		v.infer(w, strings.Split(path, "/")[3])
	default:
		fmt.Fprintf(w,
			`{"name":%q,"inputs":[{"name":"IN","datatype":"FP32","shape":[1]}],"outputs":[{"name":"OUT",`+
				`"datatype":"FP32","shape":[1]}]}`,
			filepath.Base(path))
	}
}

// infer answers over HTTP/1.
func (v *vast) infer(w http.ResponseWriter, how string) {
	c, out, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer c.Close()
	spaces, head := bytes.Repeat([]byte(" "), mib), "HTTP/1.1 200 OK\r\n"
	switch how {
	case "bomb":
		fmt.Fprintf(out, head+"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s", len(v.bomb), v.bomb)
	case "chunks":
		fmt.Fprint(out, head+"Transfer-Encoding: chunked\r\n\r\n")
		for err == nil {
			_, err = fmt.Fprintf(out, "%x\r\n%s\r\n", len(spaces), spaces)
		}
	case "plain":
		fmt.Fprint(out, "HTTP/1.0 200 OK\r\n\r\n")
		for err == nil {
			_, err = out.Write(spaces)
		}
	case "spaces":
		fmt.Fprintf(out, head+"Content-Length: %d\r\n\r\n", 3<<30)
		for sent := 0; err == nil && sent < 3<<30; sent += len(spaces) {
			_, err = out.Write(spaces)
		}
	case "just":
		fmt.Fprintf(out, head+"Content-Length: %d\r\n\r\n", 63*mib)
		for range 63 {
			_, _ = out.Write(spaces)
		}
	}
	_ = out.Flush()
}

// call answers a call of gRPC.
func (v *vast) call(w http.ResponseWriter, r *http.Request) {
	field := func(n byte, content string) string {
		return string([]byte{
			n<<3 | 2,
			byte(len(content)),
		}) + content
	}
	tensor := func(name string) string { return field(1, name) + field(2, "FP32") + field(3, "\x01") }
	w.Header().Set("Content-Type", "application/grpc")
	w.Header().Set("Trailer", "Grpc-Status")
	message, size := []byte{}, -1
	switch filepath.Base(r.URL.Path) {
	case "ServerMetadata":
	case "ModelMetadata":
		message = []byte(field(1, "m") + field(4, tensor("IN")) + field(5, tensor("OUT")))
	default:
		_, _ = r.Body.Read(make([]byte, 1024)) // a request, of a stream that goes on
		w.Header().Set("Grpc-Encoding", "gzip")
		message, size = v.bomb, len(v.bomb)
	}
	prefix := make([]byte, 5)
	if size >= 0 {
		prefix[0] = 1
	}
	binary.BigEndian.PutUint32(prefix[1:], uint32(len(message)))
	_, _ = w.Write(append(prefix, message...))
	w.Header().Set("Grpc-Status", "0")
}

// TestMemory: whatever a server replies with, the client takes no more than 200 MiB above the limit
// of a reply, and says what the limit is.
func TestMemory(t *testing.T) {
	t.Parallel()
	_, address := newVast(t)
	const (
		limit   = "raise `max_message`"
		unasked = "does not set `compression`"
		bomb    = "exceeds `max_message`"
		exports = "output: {samples: csv, formats: [json, profile_export]}"
	)
	for i, c := range []struct {
		scheme, model, target, more string
		class, note                 string
	}{
		{"http", "bomb", "", "", "decode", unasked},
		{"http", "bomb", "", exports, "decode", unasked},
		{"http", "bomb", "compression: gzip", "", "decode", "not a JSON object"},
		{"http", "bomb", "compression: gzip", exports, "decode", "not a JSON object"},
		{"http", "bomb", "compression: gzip", "expected", "decode", bomb},
		{"http", "bomb", "compression: gzip, max_message: 1MiB", "expected", "decode", limit},
		{"http", "chunks", "", "", "decode", limit},
		{"http", "chunks", "max_message: 1MiB", exports, "decode", limit},
		{"http", "chunks", "", "expected", "decode", limit},
		{"http", "plain", "", exports, "decode", limit},
		{"http", "plain", "", "expected", "decode", limit},
		{"http", "spaces", "", "", "decode", "3221225472 bytes, more than the limit of 67108864: " + limit},
		{"http", "spaces", "", "expected", "decode", limit},
		{"http", "just", "", "", "decode", "not a JSON object"},
		{"http", "just", "", "expected", "decode", "not a JSON object"},
		{"grpc", "m", "", "", "status", "67108864"},
		{"grpc", "m", "compression: gzip", exports, "status", "67108864"},
		{"grpc", "m", "compression: gzip, connections: 1", "", "status", "67108864"},
		{"grpc", "m", "connections: 1, max_message: 1MiB", "", "status", "1048576"},
		{"grpc", "m", "streaming: true", exports, "status", "67108864"},
		{"grpc", "m", "streaming: true, compression: gzip", "", "status", "67108864"},
	} {
		if !cases.Runs(i, 2) { // each kind of reply is among them
			continue
		}
		name := strings.Join([]string{c.scheme, c.model, c.target, c.more}, " ")
		t.Run(name, func(t *testing.T) {
			data, more, most := "{generate: zero}", c.more, 64
			if c.more == "expected" {
				data, more = `{file: rows.json}`, ""
			}
			if strings.Contains(c.target, "1MiB") {
				most = 1
			}
			dir := t.TempDir()
			plan := fmt.Sprintf("version: 1\ntarget: {backend: triton, statistics: none, url: \"%s://%s\", model: "+
				"%s, ready: 0s, timeout: 20s, %s}\n"+
				"data: %s\nstages: [{id: s, load: {concurrency: 1}, for: 3 requests}]\n%s\n",
				c.scheme, address, c.model, c.target, data, more)
			for file, text := range map[string]string{
				"plan.yaml": plan,
				"rows.json": `{"data":[{"IN":[1]}],"validation_data":[{"OUT":[1]}]}`,
			} {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			code, printed, peak := peaked(t, dir)
			t.Logf("%d MiB", peak/mib)
			if code != 1 && code != 5 || peak > int64(most+200)*mib {
				t.Errorf("exit code %d, %d MiB of memory, limit %d MiB\n%s", code, peak/mib, most, printed)
			}
			wantNote(t, filepath.Join(dir, "out", "result.json"), c.class, c.note)
		})
	}
}

// peaked runs the plan in a folder and gives the largest resident memory of the process.
func peaked(t *testing.T, dir string) (code int, printed string, peak int64) {
	t.Helper()
	exe, err := exec.LookPath("sluice")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "run", filepath.Join(dir, "plan.yaml"), "--out", filepath.Join(dir, "out"))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.Env = append(os.Environ(), "GOGC="+strconv.Itoa(collectEvery)) // as main has it
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	late, again := time.After(2*time.Minute), time.NewTicker(20*time.Millisecond)
	defer again.Stop()
	for {
		select {
		case <-ended:
			return cmd.ProcessState.ExitCode(), out.String(), peak
		case <-late:
			_ = cmd.Process.Kill()
			t.Error("the run did not end")
			late = nil
		case <-again.C:
			if peak = max(peak, peakOf(cmd.Process.Pid)); peak > 2<<30 {
				_ = cmd.Process.Kill()
			}
		}
	}
}

// peakOf returns the largest resident memory of a process; 0 after its end.
func peakOf(pid int) int64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value),
				"kB")), 10, 64)
			return kib << 10
		}
	}
	return 0
}

// wantNote wants all requests of a run to have failed with a class, and words in its example.
func wantNote(t *testing.T, file, class, note string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var r struct {
		Nodes []struct {
			Errors []struct {
				Class   string
				Count   int64
				Example string
			}
		}
	}
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Nodes) != 1 || len(r.Nodes[0].Errors) != 1 {
		t.Fatalf("want one kind of error: %+v", r.Nodes)
	}
	if e := r.Nodes[0].Errors[0]; e.Class != class || e.Count != 3 || !strings.Contains(e.Example, note) {
		t.Errorf("%d of class %s: %q, want 3 of class %s: %q", e.Count, e.Class, e.Example, class, note)
	}
}
