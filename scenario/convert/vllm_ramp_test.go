package convert_test

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/scenario/convert"
)

// TestVLLMRamp: a ramp takes as long as that of vLLM, which waits 1/rate before each request, where the rate rises from
// one to the next.
func TestVLLMRamp(t *testing.T) {
	over := regexp.MustCompile(`over: ([0-9a-z.]+)\}`)
	for _, c := range []struct {
		strategy       string
		start, end     float64
		requests       int
		burst, arrival string
	}{
		{"linear", 2, 10, 300, "1", "arrivals: poisson"},
		{"linear", 5, 5, 1000, "1", "arrivals: poisson"},
		{"linear", 1, 100, 5000, "4", "arrivals: {cv: 0.5}"},
		{"exponential", 2, 10, 300, "1", "arrivals: poisson"},
		{"exponential", 1, 40, 2000, "0.25", "arrivals: {cv: 2}"},
	} {
		line := fmt.Sprintf("vllm bench serve --model m --ramp-up-strategy %s --ramp-up-start-rps %v --ramp-up-end-rps %v "+
			"--num-prompts %d --burstiness %s", c.strategy, c.start, c.end, c.requests, c.burst)
		out, diags := convert.VLLM(convert.Options{Args: strings.Fields(line)})
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		valid(t, out.Plan)
		want, got := 0.0, 0.0
		for i := range c.requests {
			share := float64(i) / float64(c.requests-1)
			rate := c.start + (c.end-c.start)*share
			if c.strategy == "exponential" {
				rate = c.start * math.Pow(c.end/c.start, share)
			}
			want += 1 / rate
		}
		for _, m := range over.FindAllStringSubmatch(out.Plan, -1) {
			d, err := time.ParseDuration(m[1])
			if err != nil {
				t.Fatal(err)
			}
			got += d.Seconds()
		}
		if math.Abs(got/want-1) > 0.02 {
			t.Errorf("%s: %.2f s, vLLM takes %.2f s\n%s", line, got, want, out.Plan)
		}
		if !strings.Contains(out.Plan, c.arrival) || !strings.Contains(out.Plan, fmt.Sprintf("for: %d requests", c.requests)) {
			t.Errorf("%s:\n%s", line, out.Plan)
		}
	}
}
