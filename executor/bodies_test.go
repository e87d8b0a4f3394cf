package executor

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// TestBodyBatches: the throughput of whole bodies counts the items of their batches, and has no
// data where these cannot be read.
func TestBodyBatches(t *testing.T) {
	for name, c := range map[string]struct {
		body, over string
		items      float64 // 0: unknown
	}{
		"json": {
			`{"inputs":[{"name":"IN","shape":[3,4],"datatype":"INT32","data":[1,2,3,4,1,2,3,4,1,2,3,4]}]}`, "http", 3,
		},
		"no shape": {`{"inputs":[{"name":"IN","datatype":"INT32","data":[1,2,3,4]}]}`, "http", 0},
		"message": {
			string(append(bytesField(1, []byte("m")),
				bytesField(5, append(bytesField(1, []byte("IN")), bytesField(3, []byte{5, 4})...))...)),
			"grpc", 5,
		},
		"no input": {string(bytesField(1, []byte("m"))), "grpc", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "body")
			if err := os.WriteFile(file, []byte(c.body), 0o600); err != nil {
				t.Fatal(err)
			}
			w := watch(t, func(w *witness) { w.dim = 4 })
			r := play(t, fmt.Sprintf(`
version: 1
target: {backend: kserve, url: URL, model: m}
data: {bodies: %q}
stages: [{id: s, load: {concurrency: 1}, for: 20 requests}]
`, file), w.url(c.over), Env{})
			n := r.Nodes[0]
			noted := false
			for _, f := range n.Validity.Findings {
				noted = noted || f.Code == result.UnknownBatch && strings.Contains(f.Text, "20 requests")
			}
			flow, known := n.Metrics[metric.Throughput].Stat(metric.Stat{})
			rate, _ := n.Metrics["requests.rate"].Stat(metric.Stat{})
			if len(n.Errors) > 0 || known != (c.items > 0) || noted == known ||
				known && math.Abs(flow-c.items*rate) > 1e-6*flow {
				t.Errorf("throughput %v (%v), %v requests a second, errors %v, findings %v",
					flow, known, rate, n.Errors, n.Validity.Findings)
			}
		})
	}
}
