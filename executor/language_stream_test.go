package executor

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/builtin"
	"github.com/sluice-bench/sluice/executor/result"
)

// streamSink keeps what is known about the responses of each request, by its id in decimal.
type streamSink struct {
	mu  sync.Mutex
	all map[string][]int64 // SendStart, FirstByte, then when each response came
}

func (k *streamSink) Write(s *backends.Sample) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	one := []int64{s.SendStart, s.FirstByte}
	for _, e := range s.Events {
		one = append(one, e.At)
	}
	k.all[fmt.Sprintf("%020d", 1<<50|s.N)] = one
	return nil
}

// truth is when a server's responses left it.
func truth(t *testing.T, s *builtin.Server) (all []struct {
	ID            string
	Index         int
	Arrived, Sent int64
},
) {
	t.Helper()
	reply, err := http.Get(s.URLs().Control + "/sim/responses")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reply.Body.Close() }()
	if err := json.NewDecoder(reply.Body).Decode(&all); err != nil {
		t.Fatal(err)
	}
	return all
}

// TestStreaming: each response counts and has its time, held against when it left the server; the
// end of a request is none.
func TestStreaming(t *testing.T) {
	s := serve(t, builtin.Config{})
	sink := &streamSink{all: map[string][]int64{}}
	r := play(t, `
version: 1
target: {backend: triton, url: URL, model: repeat_decoupled, streaming: true, statistics: none}
data: {generate: {IN: 7, DELAY: 5, WAIT: 0}}
stages:
  - {id: s, shapes: {IN: [4], DELAY: [4]}, load: {concurrency: 3}, for: 20 requests}
`, s.GRPCURL(), Env{Record: keep(sink)})
	n := node(t, r, "s")
	for name, want := range map[string]float64{
		"responses min": 4, "responses max": 4, "responses count": 20, "response_gap count": 60, "errors": 0,
	} {
		if got := streamValue(n, name); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	off, gaps, seen := []int64{}, []int64{}, 0
	var before struct{ sent, came int64 }
	for _, x := range truth(t, s) {
		one := sink.all[x.ID]
		if len(one) == 0 {
			continue // the request that asks whether the server is ready
		}
		seen++
		if x.Index > 0 {
			gaps = append(gaps, abs((one[2+x.Index]-before.came)-(x.Sent-before.sent)))
		} else {
			extra := (one[1] - one[0]) - (x.Sent - x.Arrived)
			if off = append(off, extra); extra < 0 {
				t.Errorf("the first response came %d ns before it was sent", -extra)
			}
		}
		before.sent, before.came = x.Sent, one[2+x.Index]
	}
	if seen != 80 || slices.Min(off) > 4e6 || slices.Min(gaps) > 1e6 {
		t.Errorf("%d responses, the first ones at best %d ns late, gaps at best %d ns off",
			seen, slices.Min(off), slices.Min(gaps))
	}
}

func abs(v int64) int64 { return max(v, -v) }

// streamValue reads a statistic of a node's metric, "responses max".
func streamValue(n *result.Node, name string) float64 {
	if name == "errors" {
		return *n.Metrics["errors.count"].Value
	}
	var row, stat string
	_, _ = fmt.Sscan(name, &row, &stat)
	m := n.Metrics[row]
	if m == nil || m.Max == nil {
		return -1
	}
	return map[string]func() float64{
		"min": func() float64 { return *m.Min }, "max": func() float64 { return *m.Max },
		"count": func() float64 { return float64(*m.Count) },
	}[stat]()
}

// TestManyResponses: more responses than one sample has room for, and none.
func TestManyResponses(t *testing.T) {
	t.Parallel()
	s := serve(t, builtin.Config{})
	for _, count := range []int{0, 1, 256, 257, 3000} {
		r := play(t, fmt.Sprintf(`
version: 1
target: {backend: triton, url: URL, model: repeat_decoupled, streaming: true, statistics: none}
data: {generate: {IN: 7, DELAY: 0, WAIT: 0}}
stages:
  - {id: s, shapes: {IN: [%d], DELAY: [%d]}, load: {concurrency: 2}, for: 4 requests}
`, count, count), s.GRPCURL(), Env{})
		n := node(t, r, "s")
		if got := [3]float64{
			streamValue(n, "responses min"), streamValue(n, "responses max"), streamValue(n, "errors"),
		}; got != [3]float64{float64(count), float64(count), 0} {
			t.Errorf("%d responses: least, most, errors %v", count, got)
		}
		if got := streamValue(n, "response_gap count"); got != float64(4*max(count-1, 0)) && count > 1 {
			t.Errorf("%d responses: %v gaps", count, got)
		}
	}
}

// TestStreamFaults: what goes wrong in a stream has its class, and the requests beside it go on.
func TestStreamFaults(t *testing.T) {
	t.Parallel()
	s := serve(t, builtin.Config{})
	for model, class := range map[string]string{
		"repeat_error": "server", "repeat_break": "reset", "repeat_hang": "timeout",
	} {
		silence := "20s"
		if class == "timeout" {
			silence = "500ms" // the responses before come sooner, on a busy machine too
		}
		r := play(t, fmt.Sprintf(`
version: 1
target: {backend: triton, url: URL, model: %s, streaming: true, inactivity_timeout: %s, statistics: none, ready: 0s}
data: {generate: {IN: 7, DELAY: 1, WAIT: 0}}
stages:
  - {id: s, shapes: {IN: [3], DELAY: [3]}, load: {concurrency: 6}, for: 6 requests, assert: [errors.count == 6]}
`, model, silence), s.GRPCURL(), Env{})
		n := node(t, r, "s")
		if len(n.Errors) != 1 || n.Errors[0].Class != class || n.Errors[0].Count != 6 {
			t.Errorf("%s: %+v", model, n.Errors)
		}
		if want := "no final flag came: after 3 responses nothing came within the inactivity_timeout"; model == "repeat_hang" && n.Errors[0].Example != want {
			t.Errorf("note %q, want %q", n.Errors[0].Example, want)
		}
	}
}

// TestDecoupledNeedsStream: a model that may answer any number of times is refused where it can
// answer once only.
func TestDecoupledNeedsStream(t *testing.T) {
	t.Parallel()
	s := serve(t, builtin.Config{})
	for url, hint := range map[string]string{
		s.GRPCURL(): "`streaming: true`",
		s.HTTPURL(): "`streaming: true` with a grpc:// URL, or with `endpoint: generate`",
	} {
		r := play(t, `
version: 1
target: {backend: triton, url: URL, model: repeat_decoupled, statistics: none}
data: {generate: {IN: 7, DELAY: 1, WAIT: 0}}
stages: [{id: s, shapes: {IN: [3], DELAY: [3]}, load: {concurrency: 1}, for: 1 request}]
`, url, Env{})
		if n := node(t, r, "s"); n.Outcome != result.Failed ||
			!strings.Contains(n.Reason,
				"model repeat_decoupled is decoupled, a request may have any number of responses: write "+hint) {
			t.Errorf("%s: %s", n.Outcome, n.Reason)
		}
	}
}

// TestExpectOnStreams: a reply is held against the data of the request that it answers, however
// many are in flight on a stream and in whatever order they are answered.
func TestExpectOnStreams(t *testing.T) {
	t.Parallel()
	s := serve(t, builtin.Config{ServiceTime: &builtin.Dist{Mean: 3e-3, Std: 2e-3}, Instances: 8})
	const rows, wrong = 8, 5
	var data, sums []string
	for i := range rows {
		list := func(v int) string {
			return "[" + strings.TrimSuffix(strings.Repeat(fmt.Sprint(v, ","), 16),
				",") + "]"
		}
		sum := 1000*i + 7
		if i == wrong {
			sum++
		}
		data, sums = append(data,
			`{"INPUT0":`+list(1000*i)+`,"INPUT1":`+list(7)+`}`), append(sums, `{"OUTPUT0":`+list(sum)+`}`)
	}
	path := file(t, "sums.json",
		`{"data":[`+strings.Join(data, ",")+`],"validation_data":[`+strings.Join(sums, ",")+`]}`)
	r := play(t, `
version: 1
target: {backend: triton, url: URL, model: simple, streaming: true, statistics: none}
data: {file: `+path+`}
stages: [{id: s, load: {concurrency: 8}, for: 160 requests, assert: [errors.ratio < 100%]}]
`, s.GRPCURL(), Env{})
	n := node(t, r, "s")
	want := result.ErrorClass{
		Class: "mismatch", Count: 160 / rows, Example: "row 5: output OUTPUT0 [0] is 5007, want 5008",
	}
	if len(n.Errors) != 1 || n.Errors[0].Class != want.Class || n.Errors[0].Count != want.Count ||
		n.Errors[0].Example != want.Example {
		t.Errorf("%+v, want %+v", n.Errors, want)
	}
}

// TestPeriodic: a load that grows by what comes back ends with the most, one request each, whatever
// the step.
func TestPeriodic(t *testing.T) {
	t.Parallel()
	s := serve(t, builtin.Config{})
	for _, c := range []struct {
		from, to, step, responses, want int
		target                          string
	}{
		{1, 4, 1, 2, 4, ""},
		{2, 7, 3, 1, 7, ""},
		{1, 3, 2, 100, 3, ""},
		{10, 30, 5, 2, 30, ""},
		{2, 9, 3, 2, 9, ", connections: 2"},
	} {
		r := play(t, fmt.Sprintf(`
version: 1
target: {backend: triton, url: URL, model: repeat_decoupled, streaming: true, statistics: none%s}
data: {generate: {IN: 7, DELAY: 3, WAIT: 0}}
stages:
  - {id: s, shapes: {IN: [6], DELAY: [6]}, load: {concurrency: {periodic: {from: %d, to: %d, step: %d, responses: %d}}}}
`, c.target, c.from, c.to, c.step, c.responses), s.GRPCURL(), Env{})
		n := node(t, r, "s")
		if got := *n.Metrics["requests.count"].Value; got != float64(c.want) || n.Outcome != result.Done {
			t.Errorf("%+v: %v requests, %s %s", c, got, n.Outcome, n.Reason)
		}
		if want := (result.Periodic{
			From: c.from, To: c.to, Step: c.step, Responses: c.responses,
		}); n.Load.Periodic == nil || *n.Load.Periodic != want || n.Load.Setting() != float64(c.to) {
			t.Errorf("%+v: the load is %+v", c, n.Load)
		}
	}
}
