package backendtest

import (
	"strconv"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/http"
	"github.com/sluice-bench/sluice/backends/kserve"
	"github.com/sluice-bench/sluice/backends/tensor"
)

// TestCloseAfter500: uvicorn (KServe, MLServer) answers a failure of the model with status 500 and closes the
// connection, without a header that says so. The reply is the model's error, and the request after it goes out on
// another connection, counted as a reconnect and not as an error.
func TestCloseAfter500(t *testing.T) {
	const refused = "HTTP/1.1 500 Internal Server Error\r\ndate: Fri, 27 Nov 2026 12:00:00 GMT\r\nserver: uvicorn\r\n" +
		"content-length: 72\r\ncontent-type: application/json\r\n\r\n" +
		`{"error":"ValueError : cannot reshape array of size 4 into shape (1,5)"}`
	body := backends.Request{Body: []byte(`{"inputs":[]}`), BodyType: "application/json"}
	input := backends.Tensor{Name: "a", Type: tensor.Int8, Shape: []int64{1}, Data: []byte{1}}
	for name, c := range map[string]struct {
		kind    backends.Kind
		target  backends.Target
		request backends.Request
	}{
		"http":   {http.Kind(), backends.Target{Path: "/v2/models/m/infer"}, body},
		"kserve": {kserve.Kind(), backends.Target{Model: "m"}, backends.Request{Inputs: []backends.Tensor{input}}},
		"v1":     {kserve.Kind(), backends.Target{Model: "m", Endpoint: kserve.Predict}, body},
	} {
		t.Run(name, func(t *testing.T) {
			raw := StartRaw(t, RawOptions{}, nil, "accept\nread size\nsend "+strconv.Quote(refused)+"\nclose")
			c.target.URL, c.target.ConnectTimeout = "http://"+raw.Address, 10*time.Second
			clock := backends.Clock{Origin: time.Now().Add(-time.Second)}
			conn, err := c.kind.Open(t.Context(), c.target, clock)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = conn.Close(t.Context()) })
			call, err := conn.Prepare(c.request)
			if err != nil {
				t.Fatal(err)
			}
			raw.Size(call.Size)
			lanes, _, err := conn.Lanes(t.Context(), 1, backends.LaneOptions{Depth: 1})
			if err != nil {
				t.Fatal(err)
			}
			for n := range 10 {
				s := &backends.Sample{Due: clock.Now(), Gen: uint32(n) + 1}
				lanes[0].Send(0, call, backends.Fields{}, s)
				lanes[0].Recv()
				if s.Class != backends.Status || s.Status != 500 {
					t.Errorf("request %d: %v %d %q", n, s.Class, s.Status, s.Note)
				}
				if redialled := s.Flags&backends.Redialled != 0; redialled != (n > 0) {
					t.Errorf("request %d: redialled %v", n, redialled)
				}
			}
			if err := lanes[0].Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
