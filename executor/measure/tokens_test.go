package measure

import (
	"math"
	"testing"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/delay"
	"github.com/sluice-bench/sluice/executor/stats"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// textEvent is an event of a stream, in ms since its request was due; usage 0: none.
type textEvent struct {
	at    float64
	flags uint16
	usage int64
}

// generated makes a request one of generated text, with the fields that a backend fills. usage -1: none.
func generated(usage int64, events ...textEvent) func(*backends.Sample) {
	return func(s *backends.Sample) {
		s.Responses = 0
		for _, e := range events {
			at := s.Due + int64(math.Round(e.at*1e6))
			count := backends.Count(0)
			if e.usage > 0 {
				count = backends.CountOf(e.usage)
			}
			s.Events = append(s.Events, backends.Event{At: at, Flags: e.flags, Tokens: count})
			if e.flags&backends.EventProgress != 0 {
				s.Progress++
				continue
			}
			switch s.Responses++; s.Responses {
			case 1:
				s.FirstToken, s.FirstTokens = at, count
			case 2:
				s.SecondToken = at
			}
			if s.FirstAnswer == 0 && e.flags&backends.EventAnswer != 0 {
				s.FirstAnswer = at
			}
			s.LastToken = at
		}
		s.OutputTokens = backends.CountOf(usage)
	}
}

const (
	answer   = backends.EventAnswer
	thought  = backends.EventReasoning
	progress = backends.EventProgress
)

// TestTokenTimes: the numbers of one request, against what the tools define. Times in ms; "-": no data.
func TestTokenTimes(t *testing.T) {
	const none = -1.0
	for _, c := range []struct {
		name   string
		end    int64 // of the stream
		usage  int64
		events []textEvent
		want   map[string]float64
	}{
		{
			"the tools' names apart: chunks of 1, 2 and 2 tokens", 260, 5,
			[]textEvent{{100, answer, 0}, {150, answer, 0}, {250, answer, 0}},
			map[string]float64{
				"ttft.max": 100, "ttft_answer.max": 100, "ttst.max": 150, "latency_content.max": 250,
				"latency.max": 260, "itl.max": 37.5, "itl_stream.max": 40, "itl_chunked.max": 37.5,
				"chunk_gap.min": 50, "chunk_gap.max": 100, "tpot.max": 50, "ntpot.max": 52,
				"tokens.output.max": 5, "responses.max": 3, "progress.max": 0,
				"tokens.per_user": 4 / 0.150, "interactivity": 1 / 0.052,
			},
		},
		{
			"a parser holds text back, and usage grows", 802, 31,
			[]textEvent{{435.8, answer, 1}, {500, progress, 9}, {619.4, answer, 17}, {801.8, answer, 31}},
			map[string]float64{
				"itl.max": 12.2, "chunk_gap.count": 2, "progress.max": 1, "tokens.output.max": 31,
				"latency_content.max": 801.8,
			},
		},
		{
			"tokens that no event shows", 145861, 26571,
			[]textEvent{{529.06, answer, 0}, {610.56, answer, 0}},
			map[string]float64{"itl.max": 0.003067, "itl_stream.max": 5.469780202},
		},
		{
			"several tokens in the first event", 180, 12,
			[]textEvent{{100, answer, 4}, {140, answer, 8}, {180, answer, 12}},
			map[string]float64{"itl.max": 80.0 / 11, "itl_chunked.max": 10},
		},
		{
			"reasoning first", 600, 4,
			[]textEvent{{200, thought, 0}, {500, answer, 0}},
			map[string]float64{"ttft.max": 200, "ttft_answer.max": 500, "ttst.max": 500},
		},
		{
			"reasoning only", 300, 2,
			[]textEvent{{200, thought, 0}, {250, thought, 0}},
			map[string]float64{"ttft.max": 200, "ttft_answer.max": none, "latency_content.max": 250},
		},
		{
			"no usage: the events are counted", 40, -1,
			[]textEvent{{10, answer, 0}, {20, answer, 0}, {40, answer, 0}},
			map[string]float64{"tokens.output.max": 3, "itl.max": 15, "tokens.input.max": none},
		},
		{
			"one token has no gap", 20, 1,
			[]textEvent{{10, answer, 0}},
			map[string]float64{
				"ttft.max": 10, "ttst.max": none, "itl.max": none, "itl_stream.max": none, "chunk_gap.max": none,
				"tokens.per_user": none, "tpot.max": 10,
			},
		},
		{
			"a stream that brings all tokens in one event has no gap that is known", 55, 10,
			[]textEvent{{50, answer, 0}},
			map[string]float64{
				"ttft.max": 50, "itl.max": none, "itl_stream.max": none, "itl_chunked.max": none,
				"tokens.per_user": none, "tokens.output.max": 10, "ntpot.max": 5.5,
			},
		},
		{
			"events that a proxy held back until the last", 55, 10,
			[]textEvent{{50, answer, 0}, {50, answer, 0}},
			map[string]float64{"itl.max": none, "itl_stream.max": none, "tokens.per_user": none},
		},
		{
			"text in one event, and hidden tokens after it", 150, 11,
			[]textEvent{{50, answer, 0}, {100, progress, 5}},
			map[string]float64{"itl.max": none, "itl_stream.max": 10},
		},
		{
			"a reply in one piece", 50, 10, nil,
			map[string]float64{
				"ttft.max": none, "latency_content.max": none, "itl.max": none, "tpot.max": none, "ntpot.max": 5,
				"tokens.output.max": 10, "progress.max": none,
			},
		},
	} {
		n := newNode(t, Config{Tokens: true})
		n.done(0, c.end, generated(c.usage, c.events...))
		a := n.Finish(2000000 * ms).Aggregate
		for path, want := range c.want {
			l, _ := catalogue(t).Leaf(path)
			got, ok := value(t, a, path)
			if l.Dim() == metric.Duration {
				got *= 1000
			}
			if ok != (want != none) || ok && math.Abs(got-want) > want*2e-5 {
				t.Errorf("%s: %s is %v, %v; want %v", c.name, path, got, ok, want)
			}
		}
		if itl, ok := value(t, a, "itl.max"); ok {
			first, _ := value(t, a, "ttft.max")
			tokens, _ := value(t, a, "tokens.output.max")
			content, _ := value(t, a, "latency_content.max")
			if math.Abs(first+(tokens-1)*itl-content) > tokens*1e-9 {
				t.Errorf("%s: ttft + (N-1) itl is %v s, latency_content %v s", c.name, first+(tokens-1)*itl, content)
			}
		}
	}
}

// TestTokensInParts: of a stream with more events than fit in a sample, the gaps and the visible tokens of
// the parts before count.
func TestTokensInParts(t *testing.T) {
	part := &backends.Sample{Gen: 1}
	generated(-1, textEvent{10, answer, 1}, textEvent{20, progress, 2}, textEvent{30, answer, 3})(part)
	var open partialRequests
	open.add(part)
	last := &backends.Sample{Gen: 1, Tokens: backends.Tokens{FirstToken: 10 * ms}, Responses: 3}
	x := finished{Sample: last, partial: open.take(last)}
	if got := x.visibleTokens(); got != 3 {
		t.Errorf("%d visible tokens without more events, want 3", got)
	}
	generated(-1, textEvent{50, answer, 5}, textEvent{60, progress, 7})(last)
	if got := x.visibleTokens(); got != 5 {
		t.Errorf("%d visible tokens, want 5", got)
	}
	var gaps stats.Dist
	if x.gapsTo(&gaps); gaps.N() != 2 || gaps.Max() != 20*ms {
		t.Errorf("%d gaps, the longest %d ns", gaps.N(), gaps.Max())
	}
}

// TestTokenSums: rates count what was answered in the window, and are unknown where one request is.
func TestTokenSums(t *testing.T) {
	counts := func(in, out int64) func(*backends.Sample) {
		return func(s *backends.Sample) {
			s.InputTokens, s.OutputTokens = backends.CountOf(in), backends.CountOf(out)
			s.CachedTokens = backends.CountOf(0)
		}
	}
	n := newNode(t, Config{Tokens: true})
	n.end = n.start + 1000*ms
	n.done(0, 100, counts(5, 10))
	n.done(0, 200, counts(7, 20))
	n.done(0, 1200, counts(100, 100)) // after the window
	n.done(0, 300, failed(backends.Server, "an error in the stream"), counts(100, 100))
	n.at(1300)
	total := n.Finish(n.start + 2000*ms)
	a := total.Aggregate
	if s := total.Slices[0]; s.Tokens != 30 || s.Texts != 0 {
		t.Errorf("%d tokens and %d times to the first in the first second", s.Tokens, s.Texts)
	}
	for path, want := range map[string]float64{
		"tokens.input.rate": 12, "tokens.output.rate": 30, "tokens.total.rate": 42, "tokens.input.count": 3,
		"tokens.cached.share": 0, "tokens.cached.max": 0, "tokens.cached.count": 3, "tokens.reasoning.count": 0,
	} {
		if got, ok := value(t, a, path); !ok || got != want {
			t.Errorf("%s is %v, %v; want %v", path, got, ok, want)
		}
	}
	n = newNode(t, Config{Tokens: true})
	n.end = n.start + 1000*ms
	n.done(0, 100, counts(5, 10))
	n.done(0, 200)
	a = n.Finish(n.start + 2000*ms).Aggregate
	for _, path := range []string{"tokens.input.rate", "tokens.output.rate", "tokens.total.rate"} {
		if v, ok := value(t, a, path); ok {
			t.Errorf("%s is %v although the tokens of a request are unknown", path, v)
		}
	}
}

// TestCachedPrompts: times to the first token apart, and the cached share of the prompts' tokens.
func TestCachedPrompts(t *testing.T) {
	n := newNode(t, Config{Tokens: true})
	for _, x := range []struct{ ttft, prompt, cached int64 }{{50, 100, 0}, {10, 100, 80}, {30, 100, -1}} {
		n.done(0, 200, generated(2, textEvent{float64(x.ttft), answer, 0}), func(s *backends.Sample) {
			s.InputTokens, s.CachedTokens = backends.CountOf(x.prompt), backends.CountOf(x.cached)
		})
	}
	n.end = n.start + 1000*ms
	total := n.Finish(5000 * ms)
	a := total.Aggregate
	if s := total.Slices[0]; s.Texts != 3 || s.TTFT50 != 30*ms || s.TTFT99 != 50*ms || s.Tokens != 6 {
		t.Errorf("the first second: %+v", s)
	}
	for path, want := range map[string]float64{
		"ttft.count": 3, "ttft_cached.count": 1, "ttft_cached.max": 0.01, "ttft_uncached.count": 1,
		"ttft_uncached.max": 0.05, "tokens.cached.share": 0.4,
	} {
		if got, _ := value(t, a, path); got != want {
			t.Errorf("%s is %v, want %v", path, got, want)
		}
	}
}

// TestPerUserIsPooled: tokens over time of all requests, not a mean of the rates of each.
func TestPerUserIsPooled(t *testing.T) {
	n := newNode(t, Config{Tokens: true})
	n.done(0, 200, generated(11, textEvent{100, answer, 0}, textEvent{200, answer, 0})) // 100/s
	n.done(0, 1000, generated(11, textEvent{500, answer, 0}, textEvent{1000, answer, 0}))
	a := n.Finish(5000 * ms).Aggregate
	if got, _ := value(t, a, "tokens.per_user"); math.Abs(got-20/0.6) > 1e-9 {
		t.Errorf("tokens.per_user is %v, want 33.3", got)
	}
}

// TestLateTokens: the delay of a late client is spread over the gaps that a number is made of.
func TestLateTokens(t *testing.T) {
	n, log := lateNode(t, Config{Tokens: true})
	n.late(log, 0, 145, generated(11, textEvent{45, answer, 0}, textEvent{145, answer, 0}))
	log.Idle(n.start + 200*ms)
	n.at(600)
	a := n.Finish(n.start + 1000*ms).Aggregate
	d := delay.Delay{E: 5 * ms, Recent: 5 * ms}
	lo, hi := d.Gap(100 * ms)
	expect(t, a, "itl.max", float64(lo)/1e7, 10, float64(hi)/1e7)
	lo, hi = d.Due(45 * ms)
	expect(t, a, "ttft.max", float64(lo)/1e6, 45, float64(hi)/1e6)
	lo, hi = d.Due(145 * ms)
	expect(t, a, "tpot.max", math.Round(float64(lo)/11)/1e6, math.Round(145e6/11)/1e6, math.Round(float64(hi)/11)/1e6)
	expect(t, a, "tokens.output.max", 11, 11, 11)
	n, log = lateNode(t, Config{Tokens: true})
	n.late(log, 0, 10, generated(11, textEvent{5, answer, 0}, textEvent{10, answer, 0}))
	n.at(600)
	hasty := n.Finish(n.start + 1000*ms).Aggregate
	if least := sets(t, hasty, "itl.max")[0]; least <= 0 {
		t.Errorf("itl is %v ms at least, which a limit of 0 would hold", least)
	}
	lo, hi = d.Gap(100 * ms)
	expect(t, a, "tokens.per_user", 10/(float64(lo)/1e9), 100, 10/(float64(hi)/1e9))
}
