package trial

import (
	"testing"

	"github.com/sluice-bench/sluice/executor/result"
)

// TestEachOnce: an endpoint of two targets counts once; two of one target that are shown alike differ by their query.
func TestEachOnce(t *testing.T) {
	at := func(target string) result.Scrape { return result.Scrape{Target: target, URL: "http://h/metrics"} }
	if n := len(eachOnce([]result.Scrape{at("a"), at("a"), at("b")})); n != 2 {
		t.Errorf("%d endpoints", n)
	}
}
