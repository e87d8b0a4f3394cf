package trial

import (
	"testing"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/measure"
	"github.com/sluice-bench/sluice/scenario"
)

// TestWarmCacheOfRows: rows that are each sent once are new to a server; what rows share, or are sent again for, is what
// the plan asks for.
func TestWarmCacheOfRows(t *testing.T) {
	for name, c := range map[string]struct {
		format string
		sent   int64
		cached int64 // of 100 tokens
		want   bool
	}{
		"each once":         {"jsonl", 10, 50, true},
		"a template":        {"jsonl", 10, 9, false},
		"several passes":    {"jsonl", 11, 90, false},
		"blocks of a trace": {"mooncake", 10, 90, false},
	} {
		in := &Requests{Entries: []*Entry{{
			Plan:  scenario.Entry{Request: scenario.Request{Data: &scenario.Dataset{Format: c.format}}},
			Calls: make([]*backends.Call, 10),
		}}}
		all := &measure.Aggregate{}
		all.Sent, all.CachedOf, all.CachedTokens = c.sent, 100, c.cached
		if list := warmCache(in, all); (len(list) > 0) != c.want {
			t.Errorf("%s: %v", name, list)
		}
	}
}
