package triton

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/builtin"
	"github.com/sluice-bench/sluice/backends/kserve"
	"github.com/sluice-bench/sluice/backends/tensor"
	"github.com/sluice-bench/sluice/backends/wire/shm"
)

var addSub = backends.Request{
	Items: 2,
	Inputs: []backends.Tensor{
		{Name: "INPUT0", Type: tensor.Int32, Shape: []int64{2, 16}, Data: make([]byte, 128)},
		{Name: "INPUT1", Type: tensor.Int32, Shape: []int64{2, 16}, Data: make([]byte, 128)},
	},
}

var sharing = backends.Sharing{
	Memory: "system", OutputSize: 1000,
	Model: backends.Signature{Outputs: []backends.Port{
		{Name: "OUTPUT0", Type: tensor.Int32, Shape: []int64{16}},
		{Name: "OUTPUT1", Type: tensor.Bytes, Shape: []int64{16}},
	}},
}

// openShared shares requests for so many slots.
func openShared(
	t *testing.T, c backends.Conn, o backends.Sharing, slots int, reqs ...backends.Request,
) ([]*backends.Call, backends.Release, error) {
	t.Helper()
	s, err := c.(backends.Sharer).Share(reqs, o)
	if err != nil {
		t.Fatal(err)
	}
	return s.Open(t.Context(), slots)
}

func nothing(t *testing.T) {
	t.Helper()
	if names, _ := filepath.Glob(fmt.Sprintf("/dev/shm/sluice-%d-*", os.Getpid())); len(names) > 0 {
		t.Errorf("left behind: %v", names)
	}
}

// TestShareLeavesOthers: what another client has registered stays, whatever is released here.
func TestShareLeavesOthers(t *testing.T) {
	s, err := builtin.Start(t.Context(), builtin.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	theirs, err := shm.New(fmt.Sprintf("/their-%d", os.Getpid()), 64)
	if err != nil {
		t.Fatal(err)
	}
	defer theirs.Close()
	base := s.HTTPURL() + "/v2/systemsharedmemory"
	reply, err := http.Post(base+"/region/theirs/register", "application/json",
		strings.NewReader(fmt.Sprintf(`{"key":%q,"offset":0,"byte_size":64}`, theirs.Key())))
	if err != nil || reply.StatusCode != 200 {
		t.Fatal(err, reply.StatusCode)
	}
	_ = reply.Body.Close()
	list := func() int {
		reply, err := http.Get(base + "/status")
		if err != nil {
			t.Fatal(err)
		}
		defer reply.Body.Close()
		text, _ := io.ReadAll(reply.Body)
		return strings.Count(string(text), `"name"`)
	}
	for _, url := range []string{s.HTTPURL(), s.GRPCURL()} {
		c := dial(t, backends.Target{URL: url, Model: "simple"})
		calls, release, err := openShared(t, c, sharing, 3, addSub, addSub)
		if err != nil || len(calls) != 2 {
			t.Fatal(err)
		}
		nothing(t) // the server has it: no name is needed
		if n := list(); n != 5 {
			t.Errorf("%d regions, want theirs, the inputs and three slots", n)
		}
		other, otherRelease, err := openShared(t, c, sharing, 3, addSub)
		if err != nil || len(other) != 1 {
			t.Error("a second one beside it:", err)
		}
		if err := errors.Join(release(t.Context()), otherRelease(t.Context())); err != nil {
			t.Error(err)
		}
		if n := list(); n != 1 {
			t.Errorf("%d regions, want theirs", n)
		}
	}
}

// TestShareRefused: the texts are Triton's.
func TestShareRefused(t *testing.T) {
	for said, advice := range map[string]string{
		`{"error":"Unable to open shared memory region: '/x'"}`: "--ipc=host",
		`{"error":"shared memory is disabled; use --allow-client-shm=true"}`: "start the server with " +
			"--allow-client-shm=true",
		`{"error":"shared memory region 'sluice-x' already in manager"}`: "already in manager",
		`{"error":"Request for unknown model: 'systemsharedmemory' is not found"}` +
			"  404": "no shared memory extension",
	} {
		status := 400
		if text, ok := strings.CutSuffix(said, "  404"); ok {
			said, status = text, 404
		}
		var asked []string
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked = append(asked, r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:])
			if strings.HasSuffix(r.URL.Path, "/register") && len(asked) == 2 { // the second region
				w.WriteHeader(status)
				_, _ = io.WriteString(w, said)
			}
		}))
		_, release, err := openShared(t, dial(t, backends.Target{URL: s.URL, Model: "simple"}), sharing, 3, addSub)
		if err == nil || release != nil || !strings.Contains(err.Error(), advice) {
			t.Errorf("%s: %v", said, err)
		}
		if got := strings.Join(asked, " "); got != "register register unregister unregister" {
			t.Errorf("%s: asked %s", said, got)
		}
		nothing(t)
		s.Close()
	}
}

// TestShareBody: what goes out as it stands is refused for what it is.
func TestShareBody(t *testing.T) {
	for _, url := range []string{"http://127.0.0.1:1", "grpc://127.0.0.1:1"} {
		body := backends.Request{Model: "simple", Body: []byte(`{"inputs":[]}`)}
		_, err := dial(t,
			backends.Target{URL: url, Model: "simple"}).(backends.Sharer).Share([]backends.Request{body}, sharing)
		if err == nil ||
			!strings.Contains(err.Error(), "a whole body cannot use shared memory") {
			t.Errorf("%s: %v", url, err)
		}
	}
}

// TestShareLayout: places do not overlap, outputs of known size have just that, others what the
// plan says for each inference.
func TestShareLayout(t *testing.T) {
	s := &share{o: &sharing, memory: &memory{}, name: "n", reqs: []backends.Request{addSub, addSub}}
	if err := s.layout(); err != nil {
		t.Fatal(err)
	}
	end := int64(0)
	for _, p := range s.places {
		for _, at := range p.Inputs {
			if at.At < end || at.At%alignment != 0 || at.Size != 128 {
				t.Errorf("input at %+v", at)
			}
			end = at.At + at.Size
		}
		if p.Outputs[0].Size != 128 || p.Outputs[1].Size != 2000 || p.Outputs[1].At < 128 {
			t.Errorf("outputs at %+v", p.Outputs)
		}
	}
	if s.input < end || s.output < 2128 {
		t.Errorf("regions of %d and %d bytes", s.input, s.output)
	}
	s = &share{o: &backends.Sharing{}, memory: &memory{}, reqs: []backends.Request{addSub}}
	if err := s.layout(); err == nil {
		t.Error("a model without outputs was laid out")
	}
}

// encoder counts what is encoded.
type encoder struct {
	kserve.Conn
	plain, shared int
}

func (e *encoder) Prepare(r backends.Request) (*backends.Call, error) {
	e.plain++
	return e.Conn.Prepare(r)
}

func (e *encoder) PrepareShared(r backends.Request, p *kserve.Places) (*backends.Call, error) {
	e.shared++
	return e.Conn.PrepareShared(r, p)
}

// TestShareEncodesOnce: requests are encoded once for as often as their memory is opened, and that
// sends nothing; again, under another name, only where the server may still know the regions.
func TestShareEncodesOnce(t *testing.T) {
	var asked []string
	refuse := false
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:])
		if refuse && strings.HasSuffix(r.URL.Path, "/unregister") {
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	defer s.Close()
	target := backends.Target{URL: s.URL, Model: "simple"}
	k, err := kserve.Open(target, backends.Clock{})
	if err != nil {
		t.Fatal(err)
	}
	counting := &encoder{Conn: k}
	c := &conn{Conn: counting, target: target, control: overHTTP{k.(*kserve.HTTP)}}
	shared, err := c.Share([]backends.Request{addSub, addSub}, sharing)
	if err != nil || counting.shared != 2 || len(asked) != 0 {
		t.Fatalf("%v, %d encoded, asked %v", err, counting.shared, asked)
	}
	head := func(slots int) string {
		t.Helper()
		calls, release, err := shared.Open(t.Context(), slots)
		if err != nil {
			t.Fatal(err)
		}
		if err := release(t.Context()); (err != nil) != refuse {
			t.Errorf("release: %v", err)
		}
		if len(calls) != 2 {
			t.Fatalf("%d calls", len(calls))
		}
		nothing(t)
		return string(calls[0].Head)
	}
	first := head(1)
	refuse = true
	if again := head(4); again != first || counting.shared != 2 || counting.plain != 0 {
		t.Errorf("opened again: %d and %d encoded, the same: %v", counting.shared, counting.plain, again == first)
	}
	if registers := strings.Count(strings.Join(asked, " ")+" ", "register ") - strings.Count(strings.Join(asked,
		" ")+" ", "unregister "); registers != 2+5 {
		t.Errorf("%d regions for 1 and 4 slots", registers)
	}
	refuse = false
	if other := head(1); other == first || counting.shared != 4 {
		t.Errorf("after regions that could not be forgotten: %d encoded, the same name: %v",
			counting.shared, other == first)
	}
	if _, _, err := shared.Open(t.Context(), 0); err == nil {
		t.Error("opened for no slot")
	}
}
