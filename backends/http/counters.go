package http

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/jsonscan"
)

// filled is a body with counters: its front part, which ends with the last of their holes, and the rest.
type filled struct {
	front, rest []byte
	holes       []backends.Hole
	counters    []backends.Counter
}

// numberWidth is that of a hole for a number of JSON: any uint64.
const numberWidth = 20

// fillIn replaces the values of a body that are counters by holes: a number by one of the same meaning, a text
// by itself with digits behind it.
func fillIn(r *backends.Request, body []byte) (f filled, err error) {
	if len(r.Counters) == 0 {
		return filled{rest: body}, nil
	}
	if r.Parts != nil || !strings.HasSuffix(cmp.Or(r.BodyType, "application/octet-stream"), "json") {
		return f, errors.New("the request has counters, which only JSON can hold")
	}
	type span struct{ from, to, counter int }
	var spans []span
	for i, c := range r.Counters {
		sc := jsonscan.Strict(body)
		if !sc.Find(c.Path) {
			return f, fmt.Errorf("the request has no value at %q for its counter: write one, such as 0 or a text", c.Path)
		}
		if b := sc.Peek(); b == '{' || b == '[' {
			return f, fmt.Errorf("the counter %q replaces a number or a text, and the request has %s there", c.Path,
				jsonscan.Kind(sc.Rest()))
		}
		from := sc.Offset()
		sc.Skip()
		spans = append(spans, span{from, sc.Offset(), i})
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	f.rest = body
	at := 0 // of rest in body
	for i, s := range spans {
		c := r.Counters[s.counter]
		if i > 0 && spans[i-1].from == s.from {
			return f, fmt.Errorf("two counters name the value at %q", c.Path)
		}
		f.front = append(f.front, body[at:s.from]...)
		width := numberWidth
		if c.Form = backends.CounterNumber; body[s.from] == '"' {
			f.front = append(f.front, body[s.from:s.to-1]...)
			c.Form, width = backends.CounterDigits, c.Digits()
		}
		f.holes = append(f.holes, backends.Hole{
			At: uint32(len(f.front)), Width: uint8(width), Field: backends.FieldCounter + uint8(i),
		})
		f.front = append(f.front, strings.Repeat("0", width)...)
		if c.Form == backends.CounterDigits {
			f.front = append(f.front, '"')
		}
		f.counters, at = append(f.counters, c), s.to
	}
	f.rest = body[at:]
	return f, nil
}
