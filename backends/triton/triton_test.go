package triton

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/builtin"
	"github.com/sluice-bench/sluice/backends/tensor"
	"github.com/sluice-bench/sluice/backends/wire/protow"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func dial(t *testing.T, target backends.Target) backends.Conn {
	t.Helper()
	c, err := Kind().Open(t.Context(), target, backends.Clock{Origin: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}

// stats reads the series by name.
func stats(t *testing.T, c backends.Conn) map[string]int64 {
	t.Helper()
	into := make([]int64, len(Kind().Series))
	at, err := c.(backends.Observer).Stats(t.Context(), "", "", into)
	if err != nil {
		t.Fatal(err)
	}
	if at <= 0 {
		t.Errorf("at %d", at)
	}
	out := map[string]int64{}
	for i, s := range Kind().Series {
		out[s.Name] = into[i]
	}
	return out
}

func TestSeriesAreComplete(t *testing.T) {
	var s Statistics
	if got, want := len(s.values()), len(Series()); got != want {
		t.Errorf("%d values for %d series", got, want)
	}
	names := map[string]bool{}
	for _, x := range Series() {
		if names[x.Name] || x.Help == "" || x.Unit != "1" && x.Unit != "ns" ||
			x.Per != "" && !names[x.Per] && x.Per != "executions" {
			t.Errorf("series %+v", x)
		}
		names[x.Name] = true
	}
}

// The embedded server counts as Triton does; what it says must be what was sent.
func TestStatistics(t *testing.T) {
	server, err := builtin.Start(context.Background(), builtin.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	for _, url := range []string{server.HTTPURL(), server.GRPCURL()} {
		for _, version := range []string{"", "1"} {
			c := dial(t, backends.Target{URL: url, Model: "slow", ModelVersion: version})
			if sig, err := c.(backends.Describer).Describe(t.Context(), ""); err != nil || !sig.Statistics {
				t.Errorf("%s: statistics %v, %v", url, sig.Statistics, err)
			}
			before := stats(t, c)
			lanes, _, err := c.Lanes(t.Context(), 1, backends.LaneOptions{})
			if err != nil {
				t.Fatal(err)
			}
			call, err := c.Prepare(backends.Request{
				Inputs: []backends.Tensor{{Name: "INPUT0", Type: tensor.FP32, Shape: []int64{1}, Data: make([]byte, 4)}},
			})
			if err != nil {
				t.Fatal(err)
			}
			var sample backends.Sample
			for range 3 {
				sample.Reset()
				sample.Gen++
				lanes[0].Send(0, call, backends.Fields{ID: 1}, &sample)
				if _, done := lanes[0].Recv(); !done || sample.Class != backends.OK {
					t.Fatalf("%s: %v %s", url, sample.Class, sample.Note)
				}
			}
			_ = lanes[0].Close()
			after := stats(t, c)
			for _, name := range []string{
				"requests", "queued", "prepared", "computed", "collected", "inferences", "executions",
			} {
				if got := after[name] - before[name]; got != 3 {
					t.Errorf("%s version %q: %s grew by %d, want 3", url, version, name, got)
				}
			}
			infer, request := after["compute_infer"]-before["compute_infer"], after["request"]-before["request"]
			if infer < 3*int64(20*time.Millisecond) || request < infer || after["failures"] != before["failures"] {
				t.Errorf("%s: compute_infer %d, request %d", url, infer, request)
			}
		}
		c := dial(t, backends.Target{URL: url, Model: "nosuch"})
		if _, err := c.(backends.Observer).Stats(t.Context(), "", "", make([]int64, len(Series()))); err == nil ||
			!strings.Contains(err.Error(), "nosuch") {
			t.Errorf("unknown model: %v", err)
		}
		c = dial(t, backends.Target{URL: url})
		if _, err := c.(backends.Observer).Stats(t.Context(), "", "", make([]int64, len(Series()))); err == nil {
			t.Error("statistics of no model")
		}
	}
}

// reply is the statistics of two versions of m and of another model, in Triton's form.
const reply = `{"model_stats":[
{"name":"m","version":"1","last_inference":1,"inference_count":10,"execution_count":5,"inference_stats":{
 "success":{"count":8,"ns":8000},"fail":{"count":1,"ns":10},"queue":{"count":8,"ns":800},
  "compute_input":{"count":6,"ns":60},
  "compute_infer":{"count":6,"ns":600},
 "compute_output":{"count":6,"ns":30},"cache_hit":{"count":2,"ns":20},"cache_miss":{"count":6,"ns":12}},
  "batch_stats":[],"memory_usage":[],"response_stats":{}},
{"name":"m","version":"2","inference_count":1,"execution_count":1,
  "inference_stats":{"success":{"count":1,"ns":100},"queue":{"count":1,"ns":300}}},
{"name":"other","version":"1","inference_count":99}]}`

func TestOnlyTheModelsOwnEndpointIsAsked(t *testing.T) {
	var paths []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		paths = append(paths, r.URL.Path)
		if r.URL.Path == "/p/v2/models/stats" {
			http.Error(w, "{}", http.StatusBadRequest)
			return
		}
		fmt.Fprint(w, reply)
	}))
	t.Cleanup(server.Close)
	all := stats(t, dial(t, backends.Target{URL: server.URL + "/p", Model: "m"}))
	want := map[string]int64{
		"requests": 9, "request": 8100, "failures": 1, "queued": 9, "queue": 1100, "prepared": 6,
		"compute_input": 60, "computed": 6, "compute_infer": 600,
		"collected": 6, "compute_output": 30, "cache.hits": 2, "cache.hit": 20, "cache.misses": 6, "cache.miss": 12,
		"inferences": 11, "executions": 6,
	}
	if diff := cmp.Diff(want, all); diff != "" {
		t.Error(diff)
	}
	second := stats(t, dial(t, backends.Target{URL: server.URL + "/p", Model: "m", ModelVersion: "2"}))
	if second["requests"] != 1 || second["computed"] != 0 {
		t.Errorf("version 2: %v", second)
	}
	if diff := cmp.Diff([]string{"/p/v2/models/m/stats", "/p/v2/models/m/versions/2/stats"}, paths); diff != "" {
		t.Error(diff)
	}
}

func TestStatisticsErrors(t *testing.T) {
	status, body := http.StatusBadRequest, `{"error":"no statistics here"}`
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "http://elsewhere/")
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}))
	t.Cleanup(server.Close)
	c := dial(t, backends.Target{URL: server.URL, Model: "m"})
	for _, want := range []string{
		"no statistics here", `points to "http://elsewhere/"`, "reply \"{\"", "does not contain it",
	} {
		switch want {
		case `points to "http://elsewhere/"`:
			status = http.StatusMovedPermanently
		case "reply \"{\"":
			status, body = http.StatusOK, "{"
		case "does not contain it":
			body = `{"model_stats":[]}`
		}
		if _, err := c.(backends.Observer).Stats(t.Context(), "", "", make([]int64, len(Series()))); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

func statisticsMessage() []byte {
	times := protow.AppendString([]byte(nil), 1, protow.AppendUint(protow.AppendUint(nil, 1, 3), 2, 300))
	times = protow.AppendString(times, 8, protow.AppendUint(protow.AppendUint(nil, 1, 2), 2, 20))
	m := protow.AppendString(protow.AppendString([]byte(nil), 1, "m"), 2, "1")
	m = protow.AppendString(protow.AppendUint(protow.AppendUint(m, 4, 7), 5, 6), 6, times)
	return protow.AppendString([]byte(nil), 1, m)
}

func TestParse(t *testing.T) {
	var reply statisticsReply
	if err := protow.Decode(statisticsMessage(), &reply); err != nil || len(reply.Models) != 1 {
		t.Fatal(reply, err)
	}
	got := reply.Models[0]
	if got.Name != "m" || got.Version != "1" || got.Inferences != 7 || got.Executions != 6 ||
		got.Times.Success != (duration{3, 300}) || got.Times.CacheMiss != (duration{2, 20}) {
		t.Errorf("%+v", got)
	}
	if err := protow.Decode([]byte("\x0a\x05x"), &reply); err == nil {
		t.Error("a cut message was read")
	}
}

func FuzzParse(f *testing.F) {
	f.Add(statisticsMessage())
	f.Add([]byte("\x0a\x04\x32\x02\x0a\x00"))
	f.Fuzz(func(t *testing.T, message []byte) {
		var reply statisticsReply
		err := protow.Decode(message, &reply)
		if err == nil && len(message) > 0 && len(reply.Models) > len(message) {
			t.Errorf("%d models in %d bytes", len(reply.Models), len(message))
		}
	})
}
