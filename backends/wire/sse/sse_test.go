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

// TestLineEnd: the end of a line is found wherever it lies, however far behind it the other kind of end.
func TestLineEnd(t *testing.T) {
	for size := range 1100 {
		for _, end := range []string{"", "\r", "\n", "\r\n", "\r" + strings.Repeat("x", 600) + "\n", "\n\r"} {
			text := strings.Repeat("x", size) + end + strings.Repeat("x", 3)
			if got, want := lineEnd([]byte(text)), strings.IndexAny(text, "\r\n"); got != want {
				t.Fatalf("%d bytes and %q: %d, want %d", size, end, got, want)
			}
		}
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

// readSlowly reads a whole stream as the standard describes it: lines first, then fields.
func readSlowly(text string) (events []string) {
	text = strings.TrimPrefix(text, "\ufeff")
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	var data []string
	event := ""
	for _, line := range append(strings.Split(text, "\n"), "") { // the end of a stream ends its event
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "":
			if len(data) > 0 {
				events = append(events, event+"|"+strings.Join(data, "\n"))
			}
			data, event = nil, ""
		case name == "data":
			data = append(data, value)
		case name == "event":
			event = value
		}
	}
	return events
}

// FuzzPieces: how the bytes are cut changes nothing, and the events are those of the slow reader.
func FuzzPieces(f *testing.F) {
	f.Add("data: a\r\n\r\ndata: b\n\n", 3)
	f.Add("\xef\xbb\xbf\xef\xbb\xbfdata: a\n\nevent: x\revent\r\rdata\n", 2)
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
		if got, want := read(text), readSlowly(text); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	})
}

// An event that never ends is held up to a limit, and nothing of it or after it is given out; a
// stream after it is read again.
func TestLongEvent(t *testing.T) {
	s := Scanner{Limit: 100}
	for _, c := range []struct {
		piece string
		times int
		long  bool
	}{
		{"data: " + strings.Repeat("x", 90) + "\n\n", 3, false}, // each fits
		{": " + strings.Repeat("x", 90) + "\n", 3, false},
		{": " + strings.Repeat("x", 900) + "\n", 3, false}, // of a comment nothing is held
		{"::::", 1000, false},
		{"x", 1000, true},
		{"data: x\n", 1000, true},
		{"data: " + strings.Repeat("x", 101) + "\n\n", 1, true},
		{"event: " + strings.Repeat("x", 101) + "\n", 1, true},
	} {
		s.Reset()
		found := 0
		for range c.times {
			for b := []byte(c.piece); len(b) > 0; {
				n, ok := s.Next(b)
				if b = b[n:]; ok {
					found++
				}
			}
			if held := cap(s.line) + cap(s.Data) + cap(s.Event); held > 1000 {
				t.Fatalf("%q: %d bytes are held", c.piece, held)
			}
		}
		if _, ok := s.Next([]byte("\ndata: y\n\n")); s.TooLong != c.long || ok == c.long ||
			s.End() != false && c.long {
			t.Errorf("%q %d times: long %t, then found %t", c.piece, c.times, s.TooLong, ok)
		}
		if c.long && found > 0 {
			t.Errorf("%q: %d events", c.piece, found)
		}
	}
}
