package openai

import (
	"fmt"
	"strings"
	"testing"
)

// readBoth reads an event, and what is kept of its answer, with a parser that has read another, and with one that
// has read none.
func readBoth(before, text []byte) (after, fresh string) {
	var p, q parser
	if p.read(before, nil) {
		p.appendAnswer(nil, before)
	}
	read := func(p *parser) string {
		if !p.read(text, nil) {
			return fmt.Sprint(p.event)
		}
		return fmt.Sprintf("%v %q", p.event, p.appendAnswer(nil, text))
	}
	return read(&p), read(&q)
}

// TestPattern: what an event is does not depend on the ones before it, whether its content is the only
// difference or not.
func TestPattern(t *testing.T) {
	const delta = `{"choices":[{"index":0,"delta":{"content":"%s"},"finish_reason":null}]}`
	events := []string{
		fmt.Sprintf(delta, "a"), fmt.Sprintf(delta, ""), fmt.Sprintf(delta, `\"\n\\`),
		fmt.Sprintf(delta, `a","b":"`), fmt.Sprintf(delta, `\`), fmt.Sprintf(delta, "\n"),
		fmt.Sprintf(delta, `a"`), fmt.Sprintf(delta, "\xff"),
		`{"choices":[{"index":1,"delta":{"content":"a"},"finish_reason":null}]}`,
		`{"choices":[{"index":0,"delta":{"reasoning":"a"},"finish_reason":null}]}`,
		`{"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}`,
		`{"choices":[{"index":0,"delta":{"content":"a","reasoning":"a"}}]}`,
		`{"choices":[{"delta":{"content":"a"}}],"usage":{"completion_tokens":1}}`,
		`{"choices":[{"text":"a"}]}`, `{"content":"a","stop":false,"tokens_predicted":1}`, `{"content":"a"}`,
		`{"type":"response.output_text.delta","delta":"a"}`, `{"error":"a"}`, `{"message":"a"}`,
		`{"content":"a"`, `{`, ``, `"`, `{"text":"a"} `, `{"text":"a"}b`,
		`{"text":"` + strings.Repeat("a", maxPattern) + `"}`,
	}
	for _, before := range events {
		for _, text := range events {
			if after, fresh := readBoth([]byte(before), []byte(text)); after != fresh {
				t.Errorf("%s after %s:\n%s\n%s", text, before, after, fresh)
			}
		}
	}
	var p parser
	for _, hit := range []bool{false, true} {
		text := []byte(events[0])
		if _, known := p.last.fits(text); known != hit || !p.read(text, nil) {
			t.Errorf("%s is known: %t", text, !hit)
		}
		if p.appendAnswer(nil, text); p.last.tag != tagText {
			t.Errorf("the frame of %s is not known", text)
		}
	}
}

// FuzzPattern: an event with any other content is the same to both parsers.
func FuzzPattern(f *testing.F) {
	for _, m := range madeStreams(f) {
		for _, line := range strings.Split(m.text, "\n") {
			if text, ok := strings.CutPrefix(line, "data: "); ok {
				f.Add([]byte(text), []byte("word"), []byte(text))
			}
		}
	}
	f.Fuzz(func(t *testing.T, before, content, other []byte) {
		var p parser
		texts := [][]byte{other}
		if p.read(before, nil); len(p.last.text) > 0 {
			start, end := p.last.start, p.last.end
			texts = append(texts, []byte(string(before[:start])+string(content)+string(before[end:])))
		}
		for _, text := range texts {
			if after, fresh := readBoth(before, text); after != fresh {
				t.Errorf("%s after %s:\n%s\n%s", text, before, after, fresh)
			}
		}
	})
}
