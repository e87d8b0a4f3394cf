package sse

import (
	"slices"
	"strings"
	"testing"
)

// read gives the events of pieces, each as "type|data".
func read(pieces ...string) (events []string) {
	var s Scanner
	for _, p := range pieces {
		for b := []byte(p); len(b) > 0; {
			n, ok := s.Next(b)
			if b = b[n:]; ok {
				events = append(events, string(s.Event)+"|"+string(s.Data))
			}
		}
	}
	if s.End() {
		events = append(events, string(s.Event)+"|"+string(s.Data))
	}
	return events
}

// The first rows are the examples of the standard, section 9.2.6.
func TestEvents(t *testing.T) {
	for text, want := range map[string]string{
		"data: YHOO\ndata: +2\ndata: 10\n\n":                                     "|YHOO\n+2\n10",
		": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\n": "|first event;|second event",
		"data\n\ndata\ndata\n\ndata:":                                            "|;|\n;|",
		"data:test\n\ndata: test\n\n":                                            "|test;|test",
		"event: done\ndata: x\n\ndata: y\n\n":                                    "done|x;|y",
		"event: none\n\ndata: y\n\n":                                             "|y",
		": ping\n\nretry: 3000\n\n\n\ndata: a\n\n":                               "|a",
		"\xef\xbb\xbfdata: a\n\n":                                                "|a",
		"data: {\"a\":\"b: c\"}\n\n":                                             "|{\"a\":\"b: c\"}",
		"data:  two spaces\n\n":                                                  "| two spaces",
		"data: no end":                                                           "|no end",
		"data: no empty line\n":                                                  "|no empty line",
		"dat: x\nDATA: y\n\n":                                                    "",
		"":                                                                       "",
		"\n\n\n":                                                                 "",
	} {
		for _, end := range []string{"\n", "\r\n", "\r"} {
			text := strings.ReplaceAll(text, "\n", end)
			var one, seven []string
			for i := range len(text) {
				one = append(one, text[i:i+1])
			}
			for rest := text; rest != ""; rest = rest[min(7, len(rest)):] {
				seven = append(seven, rest[:min(7, len(rest))])
			}
			for _, pieces := range [][]string{{text}, one, seven} {
				if got := strings.Join(read(pieces...), ";"); got != want {
					t.Errorf("%q in %d pieces: %q, want %q", text, len(pieces), got, want)
				}
			}
		}
	}
}

func TestReset(t *testing.T) {
	var s Scanner
	s.Next([]byte("event: x\ndata: cut"))
	s.Reset()
	if _, ok := s.Next([]byte("data: new\n\n")); !ok || string(s.Data) != "new" || len(s.Event) > 0 {
		t.Errorf("after Reset: %v, %q, %q", ok, s.Event, s.Data)
	}
}

func TestNextDoesNotAllocate(t *testing.T) {
	var s Scanner
	text := []byte("data: {\"text_output\":\"word \"}\n\ndata: {\"text_output\":\"word \"}\n\n")
	if n := testing.AllocsPerRun(100, func() {
		for b := text; len(b) > 0; {
			n, _ := s.Next(b)
			b = b[n:]
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzPieces: how the bytes are cut changes nothing.
func FuzzPieces(f *testing.F) {
	f.Add("data: a\r\n\r\ndata: b\n\n", 3)
	f.Add("\xef\xbb\xbf: x\rdata:\r\r", 1)
	f.Fuzz(func(t *testing.T, text string, size int) {
		size = max(size, 1)
		var pieces []string
		for rest := text; rest != ""; rest = rest[min(size, len(rest)):] {
			pieces = append(pieces, rest[:min(size, len(rest))])
		}
		if whole, cut := read(text), read(pieces...); !slices.Equal(whole, cut) {
			t.Errorf("%q whole, %q in pieces of %d", whole, cut, size)
		}
	})
}
