package measure

import (
	"math"
	"strconv"
	"strings"
	"testing"
)

// peers are requests of the tests of other tools: the numbers that they expect, in ms, where theirs and ours
// are defined alike; itl unrounded. ttst counts from when the request was due.
//
//	name: due, times of the events with text, tokens -> metrics
const peers = `
genai-perf, stream of Triton:      1; 3 5 8;      3 -> latency_content 7 ttft 2 ttst 4 itl 2.5
genai-perf, stream of Triton:      2; 4 7 11;     6 -> latency_content 9 ttft 2 ttst 5 itl 1.4
genai-perf, at a rate:             5; 7 8 13 18;  4 -> latency_content 13 ttft 2 ttst 3 itl 3.6666667
genai-perf, at a rate:             3; 6 8 11;     6 -> latency_content 8 ttft 3 ttst 5 itl 1
genai-perf, role and ends dropped: 1; 5 8 12;     3 -> latency_content 11 ttft 4 ttst 7 itl 3.5
genai-perf, role and ends dropped: 2; 7 11 15;    6 -> latency_content 13 ttft 5 ttst 9 itl 1.6
genai-perf, ids of an engine:      5; 7 8 13 18;  4 -> itl 3.6666667
genai-perf, TGI:                   2; 4 7 11;     5 -> latency_content 9 itl 1.75
aiperf, one response:              100; 110;      1 -> ttft 10 ttst - itl -
aiperf, two:                       100; 105 115;  2 -> ttft 5 ttst 15 itl 10
aiperf, gaps:                      100; 110 120 135; 3 -> chunk_gap_min 10 chunk_gap_max 15
aiperf, gaps:                      1000; 1040 1080 1120 1200 1280; 5 -> chunk_gap_min 40 chunk_gap_max 80
vllm, gaps add up:                 0; 1 2 3 4 5;  5 -> ttft 1 latency_content 5 itl 1 chunk_gap_min 1
guidellm, tokens per iteration:    0; 1 5;        10 -> itl 0.4444444
inference-perf, tokens over times: 0; 1000 2000 3000; 10 -> itl 222.2222222
inference-perf, server's count:    0; 1000 2000 3000; 5 -> itl 500
inference-perf, no tokens:         0; 1000 2000 3000; 0 -> itl -
mlperf, time per output token:     0; 100 1100;   11 -> itl 100
`

// TestPeers: one stream after another, measured by our definitions, gives what the tests of other tools expect.
func TestPeers(t *testing.T) {
	for line := range strings.Lines(strings.TrimSpace(peers)) {
		name, rest, _ := strings.Cut(line, ":")
		given, want, _ := strings.Cut(rest, "->")
		fields := strings.Split(given, ";")
		due, tokens := parsed(t, fields[0]), parsed(t, fields[2])
		var events []textEvent
		for _, at := range strings.Fields(fields[1]) {
			events = append(events, textEvent{parsed(t, at) - due, answer, 0})
		}
		n := newNode(t, Config{Tokens: true})
		n.done(int64(due), int64(events[len(events)-1].at+due), generated(int64(tokens), events...))
		a := n.Finish(n.start + 10_000*ms).Aggregate
		words := strings.Fields(want)
		for i := 0; i < len(words); i += 2 {
			path := words[i] + ".max"
			if before, ok := strings.CutSuffix(words[i], "_min"); ok {
				path = before + ".min"
			} else if before, ok := strings.CutSuffix(words[i], "_max"); ok {
				path = before + ".max"
			}
			got, ok := value(t, a, path)
			if words[i+1] == "-" {
				if ok {
					t.Errorf("%s: %s is %v, want no data", name, words[i], got*1e3)
				}
				continue
			}
			if w := parsed(t, words[i+1]); !ok || math.Abs(got*1e3-w) > 1e-4 {
				t.Errorf("%s: %s is %v, want %v", name, words[i], got*1e3, w)
			}
		}
	}
}

func parsed(t *testing.T, text string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
