package openai

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/http1"
)

// made is a reply of testdata/streams.txt.
type made struct{ name, want, text string }

func madeStreams(t testing.TB) (list []made) {
	t.Helper()
	all, err := os.ReadFile("testdata/streams.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range strings.Split(string(all), "\n== ")[1:] {
		lines := strings.SplitN(part+"\n", "\n", 3)
		list = append(list, made{name: lines[0], want: lines[1], text: strings.TrimSuffix(lines[2], "\n")})
	}
	return list
}

const streamHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n"

var posted = []byte("POST / HTTP/1.1\r\n\r\n")

// play feeds a reply in pieces of size bytes, the first at time 1000, each 1 later. It ends with the
// connection if that ends it.
func play(j *judge, reply string, size int) *backends.Sample {
	s := &backends.Sample{Events: make([]backends.Event, 0, 100)}
	w := http1.New(j)
	w.Begin(0, &backends.Call{Head: posted, Impl: &expectation{}}, backends.Fields{}, s)
	at := int64(1000)
	for ; reply != ""; at++ {
		n := min(size, len(reply))
		if slot, _, _ := w.Feed([]byte(reply[:n]), at); slot != backends.None {
			return s
		}
		reply = reply[n:]
	}
	w.EOF(at)
	return s
}

// facts writes a sample as the lines in testdata/streams.txt do.
func facts(s *backends.Sample) string {
	count := func(c backends.Count) string {
		if n, ok := c.Get(); ok {
			return strconv.FormatInt(n, 10)
		}
		return "-"
	}
	var kinds []byte
	for _, e := range s.Events {
		kinds = append(kinds, map[uint16]byte{
			backends.EventReasoning: 'r', backends.EventAnswer: 'a', backends.EventProgress: '+',
		}[e.Flags&^backends.EventCoalesced])
	}
	return fmt.Sprintf("%s %s %s/%s/%s/%s %s %q", s.Class, kinds, count(s.InputTokens), count(s.OutputTokens),
		count(s.CachedTokens), count(s.ReasoningTokens), count(s.FirstTokens), s.Note)
}

// TestStreams: every reply has one result, however the reads cut it, whatever ends its lines, and
// with either framing.
func TestStreams(t *testing.T) {
	list := madeStreams(t)
	if len(list) < 30 {
		t.Fatalf("%d streams", len(list))
	}
	for _, m := range list {
		want, whole := strings.TrimSuffix(m.want, `"`), strings.HasSuffix(m.want, ` ""`)
		for _, end := range []string{"\n", "\r\n", "\r"} {
			text := strings.ReplaceAll(m.text, "\n", end)
			for _, reply := range []string{
				fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", streamHead, len(text), text),
				fmt.Sprintf("%sTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", streamHead, len(text), text),
				fmt.Sprintf("%sConnection: close\r\n\r\n%s", streamHead, text),
			} {
				if text == "" {
					reply = streamHead + "Content-Length: 0\r\n\r\n"
				}
				for _, size := range []int{1 << 20, 1, 7} {
					s := play(&judge{streaming: true}, reply, size)
					if got := facts(s); !strings.HasPrefix(got, want) || whole && got != m.want {
						t.Errorf("%s, lines end with %q, pieces of %d:\n got %s\nwant %s", m.name, end, size, got, m.want)
					}
					checkTimes(t, m.name, s)
				}
			}
		}
	}
}

// checkTimes: the times of tokens are those of the events.
func checkTimes(t *testing.T, name string, s *backends.Sample) {
	t.Helper()
	var all, answers []int64
	progress := 0
	for i, e := range s.Events {
		switch {
		case !e.Responds():
			progress++
			continue
		case e.Flags&backends.EventAnswer != 0:
			answers = append(answers, e.At)
		}
		if coalesced := len(all) > 0 && all[len(all)-1] == e.At; coalesced != (e.Flags&backends.EventCoalesced != 0) {
			t.Errorf("%s: event %d is coalesced: %v", name, i, !coalesced)
		}
		all = append(all, e.At)
	}
	all, answers = append(all, 0, 0), append(answers, 0)
	last := int64(0)
	if s.Responses > 0 {
		last = all[s.Responses-1]
	}
	want := backends.Tokens{
		FirstToken: all[0], SecondToken: all[1], LastToken: last, FirstAnswer: answers[0], Progress: uint32(progress),
		FirstTokens: s.FirstTokens, InputTokens: s.InputTokens, OutputTokens: s.OutputTokens,
		CachedTokens: s.CachedTokens, ReasoningTokens: s.ReasoningTokens,
	}
	if s.Tokens != want || int(s.Responses) != len(all)-2 || s.LastByte < s.LastToken {
		t.Errorf("%s: %+v\nwant %+v; %d responses, last byte at %d", name, s.Tokens, want, s.Responses, s.LastByte)
	}
	if s.Class == backends.OK && (s.FirstByte != all[0] || s.LastByte == 0) {
		t.Errorf("%s: first byte at %d, last at %d", name, s.FirstByte, s.LastByte)
	}
}

// TestTimes: the times of tokens in streams whose figures other tools get wrong; each line is the time of
// an event in microseconds, and the event. Times of the answer are those of its reads.
func TestTimes(t *testing.T) {
	content := func(text, more string) string {
		return `{"choices":[{"index":0,"delta":{` + text + `}}]` + more + `}`
	}
	word, held := `"content":"a"`, `"content":""`
	tool := `"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]`
	usage := func(n int) string { return fmt.Sprintf(`,"usage":{"completion_tokens":%d}`, n) }
	for name, c := range map[string]struct {
		events []any
		want   backends.Tokens
		itl    float64 // (last content - first) / (N - 1), µs
		chunks float64 // (last content - first) / (N - k)
	}{
		"a parser holds text back while usage grows": {
			[]any{
				435_800, content(word, usage(1)), 500_000, content(held, usage(9)), 619_400, content(tool, usage(17)),
				801_800, content(tool, usage(31)),
			},
			backends.Tokens{
				FirstToken: 435_800, SecondToken: 619_400, LastToken: 801_800, FirstAnswer: 435_800, Progress: 1,
				FirstTokens: backends.CountOf(1), OutputTokens: backends.CountOf(31),
			},
			12_200, 12_200,
		},
		"the first event brings four tokens": {
			[]any{100_000, content(word, usage(4)), 140_000, content(word, usage(8)), 180_000, content(word, usage(12))},
			backends.Tokens{
				FirstToken: 100_000, SecondToken: 140_000, LastToken: 180_000, FirstAnswer: 100_000,
				FirstTokens: backends.CountOf(4), OutputTokens: backends.CountOf(12),
			},
			80_000. / 11, 10_000,
		},
		"hidden tokens between two visible ones": {
			[]any{
				529_060, content(word, ""), 610_560, content(word, ""),
				145_861_450, `{"choices":[]` + usage(26_571) + `}`,
			},
			backends.Tokens{
				FirstToken: 529_060, SecondToken: 610_560, LastToken: 610_560, FirstAnswer: 529_060,
				OutputTokens: backends.CountOf(26_571),
			},
			81_500. / 26_570, 81_500. / 26_570,
		},
		"role, then three words and an empty one": { // perf_analyzer's times 3, 5, 8, 12, 13 of a request sent at 1
			[]any{
				3, content(`"role":"assistant"`, ""), 5, content(word, ""), 8, content(word, ""), 12, content(word, ""),
				13, content(held, ""), 14, `{"choices":[]` + usage(3) + `}`,
			},
			backends.Tokens{
				FirstToken: 5, SecondToken: 8, LastToken: 12, FirstAnswer: 5, OutputTokens: backends.CountOf(3),
			},
			3.5, 3.5,
		},
		"reasoning, then an answer": {
			[]any{
				200, content(`"reasoning":"hm"`, ""), 300, content(`"reasoning_content":"so"`, ""), 500, content(word, ""),
			},
			backends.Tokens{FirstToken: 200, SecondToken: 300, LastToken: 500, FirstAnswer: 500},
			150, 150,
		},
	} {
		s := &backends.Sample{Events: make([]backends.Event, 0, 9)}
		w := http1.New(&judge{streaming: true})
		w.Begin(0, &backends.Call{Head: posted, Impl: &expectation{}}, backends.Fields{}, s)
		w.Feed([]byte(streamHead+"Connection: close\r\n\r\n"), 1)
		for i := 0; i < len(c.events); i += 2 {
			w.Feed([]byte("data: "+c.events[i+1].(string)+"\n\n"), int64(c.events[i].(int)))
		}
		w.Feed([]byte("data: [DONE]\n\n"), 200_000_000)
		w.EOF(200_000_000)
		n, ok := s.OutputTokens.Get()
		if !ok {
			n = int64(s.Responses)
		}
		k, ok := s.FirstTokens.Get()
		if !ok {
			k = 1
		}
		span := float64(s.LastToken - s.FirstToken)
		if s.Tokens != c.want || s.Class != backends.OK ||
			span/float64(n-1) != c.itl || span/float64(n-k) != c.chunks {
			t.Errorf("%s: %s %q\n got %+v\nwant %+v", name, s.Class, s.Note, s.Tokens, c.want)
		}
	}
}
