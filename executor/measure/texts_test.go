package measure

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// playTexts measures requests with text. usage: each has usage; else a third has, and a tokenizer that takes each
// byte for a token counts the others. open: hold ends with the last request.
func playTexts(t *testing.T, c Config, usage, open bool) Total {
	t.Helper()
	n, log := lateNode(t, c)
	if n.end = n.start + 900*ms; open {
		n.end = 0
	}
	rng := rand.New(rand.NewPCG(7, 8))
	at := int64(0)
	for i := range 600 {
		at += rng.Int64N(3)
		tokens, first, last := 1+rng.Int64N(40), 1+rng.Int64N(30), 0.5+60*rng.Float64()
		answers := generated(-1, textEvent{float64(first), answer, 0}, textEvent{float64(first) + last, answer, 0})
		request := func(s *backends.Sample) {
			answers(s)
			s.LastByte = s.LastToken + ms
			s.Entry = uint16(i % 2)
			switch {
			case i%11 == 0:
				s.Class = backends.Server
			case usage || i%3 == 0:
				s.OutputTokens = backends.CountOf(tokens)
			}
			if !usage {
				s.Text = append(s.Text[:0], strings.Repeat("x", int(tokens))...)
			}
		}
		if i%50 < 8 {
			n.late(log, at, at, request)
		} else {
			n.done(at, at, request)
		}
		if i%16 == 15 {
			n.at(at)
		}
	}
	n.at(at + 100)
	return n.Finish(n.start + 2000*ms)
}

// withoutSource returns sums without what says how tokens were counted.
func withoutSource(a *Aggregate) Aggregate {
	c := *a
	c.FromUsage, c.FromTokenizer, c.UsedTokens, c.VisibleTokens, c.Tokenized = 0, 0, 0, 0, Tokenized{}
	return c
}

// forms are all sums of a measurement in all sets, as text.
func forms(t *testing.T, total *Total, rows []*metric.Row) (list []string) {
	add := func(name string, a *Aggregate) {
		low, high, ok := a.Sets()
		if !ok {
			low, high = a, a
		}
		for _, set := range []*Aggregate{low, a, high} {
			plain := withoutSource(set)
			list = append(list, name+" "+form(t, &plain))
		}
	}
	add("node", total.Aggregate)
	for _, a := range total.Scopes {
		add("scope", a)
	}
	for _, s := range total.Series {
		for _, w := range s.Windows {
			add("window", w.Aggregate)
		}
	}
	for _, line := range total.Timelines {
		for _, a := range line.Parts {
			add("part", a)
		}
		for _, row := range rows {
			lowest, measured, highest := line.Values(row)
			stored, err := json.Marshal([]any{lowest, measured, highest})
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, row.Name+" "+string(stored))
		}
	}
	return append(list, fmt.Sprint(total.Slices))
}

// TestTextsCountLater: the tokens of a text that is counted when all is over are in every number, as if the server
// had counted them.
func TestTextsCountLater(t *testing.T) {
	rows := func(names ...string) (list []*metric.Row) {
		for _, name := range names {
			row, _ := catalogue(t).Row(name)
			list = append(list, row)
		}
		return list
	}
	some := rows("itl", "tokens.output", "latency", "response_gap")
	parts := Breakdown{
		Scopes:  []Scope{{Entry: 1}, {Entry: -1, Steady: true}},
		Every:   []Every{{Length: 100 * ms, Scope: -1, Rows: some}, {Length: 100 * ms, Scope: 0, Rows: some}},
		Timed:   []Timed{{Scope: -1, Rows: some}},
		Goodput: []Bound{{some[0], 0.004}, {some[1], 60}},
	}
	bytes := func(s *backends.Sample) (int, bool) { return len(s.Text), true }
	for _, c := range []struct {
		windows Windows
		open    bool
	}{{Windows{}, false}, {Windows{}, true}, {Windows{Length: 200 * ms, Keep: 20}, false}} {
		config := Config{Breakdown: parts, Tokens: true, Windows: c.windows}
		want := playTexts(t, config, true, c.open)
		config.Count = bytes
		told := int64(0)
		config.Counted = func(_ uint64, tokens int64) { told += tokens }
		later := playTexts(t, config, false, c.open)
		if told == 0 {
			t.Error("no number of tokens was told")
		}
		config.CountAtOnce = true
		before := told
		once := playTexts(t, config, false, c.open)
		if told != 2*before {
			t.Errorf("%d tokens were told at once, %d later", told-before, before)
		}
		for name, got := range map[string]Total{"later": later, "at once": once} {
			if diff := cmp.Diff(forms(t, &want, some), forms(t, &got, some)); diff != "" {
				t.Errorf("counted %s (-by usage +by the tokenizer):\n%.2000s", name, diff)
			}
			a := got.Aggregate
			if n := a.Tokenized; a.FromTokenizer == 0 || n.Requests != a.FromTokenizer+n.Used || n.Used != a.FromUsage ||
				n.Streamed != n.Requests || n.Events != 2*n.Requests || n.Usage == 0 || n.Usage >= n.Tokens {
				t.Errorf("counted %s: %+v, %d by usage, %d by the tokenizer", name, n, a.FromUsage, a.FromTokenizer)
			}
		}
		if a := want.Aggregate; a.Good == 0 || a.Good == a.Sent || a.low == nil || a.FromUsage != a.OK() {
			t.Errorf("the requests show nothing: %+v", a.Counts)
		}
	}
}

// TestTextsUncounted: without the tokens of a text its events stand for them.
func TestTextsUncounted(t *testing.T) {
	n := newNode(t, Config{Tokens: true, Count: func(*backends.Sample) (int, bool) { return 0, false }})
	n.done(0, 100, generated(-1, textEvent{10, answer, 0}, textEvent{20, answer, 0}),
		func(s *backends.Sample) { s.Text = []byte("text") })
	a := n.Finish(5000 * ms).Aggregate
	if v, _ := value(t, a, "tokens.output.max"); v != 2 || a.FromEvents != 1 || a.Tokenized.Requests != 0 {
		t.Errorf("%v tokens, %d requests by events, %+v", v, a.FromEvents, a.Tokenized)
	}
}

// TestTextsAreBounded: what is kept of a long run is counted meanwhile.
func TestTextsAreBounded(t *testing.T) {
	var counted atomic.Int64
	n := newNode(t, Config{Tokens: true, Count: func(*backends.Sample) (int, bool) { return int(counted.Add(1)), true }})
	n.end = n.start + 1000*ms
	text := make([]byte, maxTexts/4)
	for i := range int64(6) {
		n.done(i, i+1, generated(-1, textEvent{1, answer, 0}), func(s *backends.Sample) { s.Text = text })
		n.at(i + 2)
	}
	if counted.Load() != 3 || len(n.texts.list) != 3 || n.texts.size > maxTexts {
		t.Errorf("%d texts counted and %d kept of 6, %d bytes", counted.Load(), len(n.texts.list), n.texts.size)
	}
	if n.Finish(n.start + 2000*ms); counted.Load() != 6 || len(n.texts.list) != 0 || n.texts.size != 0 {
		t.Errorf("%d texts counted in the end, %d kept, %d bytes", counted.Load(), len(n.texts.list), n.texts.size)
	}
}

func TestRowsOfTokens(t *testing.T) {
	for i := range extracts {
		if got, want := needsTokens(i), extracts[i].per != nil || extracts[i].row == "tokens.output"; got != want {
			t.Errorf("%s needs tokens: %v", extracts[i].row, got)
		}
	}
}
