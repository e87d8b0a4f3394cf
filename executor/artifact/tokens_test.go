package artifact

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/executor/stats"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// TestTokenGrid: GenAI-Perf's table, for nodes with tokens only; what was not measured has no row. It counts the
// requests that were answered, as the files do, and beside them those that the client closed.
func TestTokenGrid(t *testing.T) {
	c, err := metric.New(metric.GoodputRows()...)
	if err != nil {
		t.Fatal(err)
	}
	distribution := func(name string, values ...int64) *result.Metric {
		row, ok := c.Row(name)
		if !ok {
			t.Fatalf("no row %s", name)
		}
		var d stats.Dist
		for _, v := range values {
			d.Add(v)
		}
		return result.Distribution(row, &d, nil)
	}
	const ms = 1e6
	chat := &result.Node{ID: "chat", Metrics: map[string]*result.Metric{
		"latency": distribution("latency", 100*ms, 200*ms), "ttft": distribution("ttft", 20*ms, 40*ms),
		"itl": distribution("itl", 5*ms, 5*ms), "tokens.per_user": result.Number(metric.Rate, 200),
		"tokens.output": distribution("tokens.output", 17, 33), "tokens.input": distribution("tokens.input"),
		"tokens.output.rate": result.Number(metric.Rate, 321.5), "requests.rate": result.Number(metric.Rate, 12.25),
		"goodput": result.Scalar(&metric.Row{Dim: metric.Rate}, 0, false), "requests.count": result.Number(metric.Count, 5),
		metric.CancelledByUs: result.Number(metric.Count, 3),
	}, TokenCounts: &result.TokenCounts{Answers: 2, Tokenizer: 48, Usage: new(int64(50)), Events: new(int64(44))}}
	embed := &result.Node{ID: "embed", Metrics: map[string]*result.Metric{
		"latency": distribution("latency", 7*ms), "tokens.input": distribution("tokens.input", 12),
		"ttft": distribution("ttft"), "requests.count": result.Number(metric.Count, 1),
		metric.CancelledByUs: result.Number(metric.Count, 0),
	}}
	tensors := &result.Node{ID: "tensors", Metrics: map[string]*result.Metric{"latency": distribution("latency", 7*ms)}}
	var got strings.Builder
	g := tokenGrid(&result.Result{Nodes: []*result.Node{chat, embed, tensors}})
	for _, row := range append([][]string{g.header}, g.rows...) {
		got.WriteString(strings.Join(row, "|") + "\n")
	}
	want := `node|statistic|avg|min|max|p99|p90|p75
chat|Time To First Token (ms)|30.00|20.00|40.00|40.00|40.00|40.00
|Request Latency (ms)|150.00|100.00|200.00|200.00|200.00|200.00
|Inter Token Latency (ms)|5.00|5.00|5.00|5.00|5.00|5.00
|Output Token Throughput Per User (tokens/sec/user)|200.00|-|-|-|-|-
|Output Sequence Length (tokens)|25.00|17.00|33.00|33.00|33.00|33.00
|Output Sequence Length by Tokenizer (tokens)|24.00|-|-|-|-|-
|Output Events (events with text)|22.00|-|-|-|-|-
|Output Token Throughput of Hold (tokens/sec)|321.50|-|-|-|-|-
|Request Throughput of Hold (per sec)|12.25|-|-|-|-|-
|Request Count (count)|2.00|-|-|-|-|-
|Requests Closed by Us (count)|3.00|-|-|-|-|-
embed|Request Latency (ms)|7.00|7.00|7.00|7.00|7.00|7.00
|Input Sequence Length (tokens)|12.00|12.00|12.00|12.00|12.00|12.00
|Request Count (count)|1.00|-|-|-|-|-
`
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
