package http

import (
	"bytes"

	"github.com/sluice-bench/sluice/backends/wire/jsonscan"
)

// AppendCause appends what the body of a refusal says went wrong. The first matching row applies:
//
//	{"error": text}                                     the text (KServe, Triton, MLServer)
//	{"error": {"message": text}}                        the text (OpenAI's interface)
//	{"detail": text}                                    the text (FastAPI)
//	{"detail": [{"loc": ["body", name], "msg": text}]}  the text, and the name (FastAPI)
//	{"type": name, "message": text}                     the name and the text (TorchServe)
//	anything else                                       the body
//
// Of a text with a traceback of Python, which frameworks put into each of these when they debug, only the
// line that names the exception is left. It allocates for texts with escapes.
func AppendCause(dst, body []byte) []byte {
	body = bytes.TrimSpace(body)
	if len(body) > 0 && body[0] == '{' {
		if out := appendMessage(dst, body); len(out) > len(dst) {
			return out
		}
	}
	return append(dst, withoutTraceback(body)...)
}

var traceback = []byte("Traceback (most recent call last)")

// withoutTraceback returns the line that ends the last traceback of a text: the first one after it without an
// indent, else its last line; the text if there is no traceback in it.
func withoutTraceback(text []byte) []byte {
	at := bytes.LastIndex(text, traceback)
	if at < 0 {
		return text
	}
	_, rest, more := bytes.Cut(bytes.TrimSpace(text[at:]), []byte("\n"))
	if !more {
		return text
	}
	for {
		line, after, more := bytes.Cut(rest, []byte("\n"))
		if !more || len(line) > 0 && line[0] != ' ' && line[0] != '\t' && line[0] != '\r' {
			return bytes.TrimSpace(line)
		}
		rest = after
	}
}

// appendMessage appends the message of a JSON object; nothing if it has none.
func appendMessage(dst, body []byte) []byte {
	var kind, text, where []byte
	sc := jsonscan.Lenient(body)
	for sc.Enter('{'); sc.More('}'); {
		switch key, next := string(sc.Key()), sc.Peek(); {
		case next == '"' && (key == "error" || key == "detail" || key == "message"):
			text = sc.Text()
		case next == '"' && key == "type":
			kind = sc.Text()
		case next == '{' && key == "error":
			text, _ = message(&sc)
		case next == '[' && key == "detail":
			for sc.Enter('['); sc.More(']'); {
				if text != nil || sc.Peek() != '{' {
					sc.Skip()
					continue
				}
				text, where = message(&sc)
			}
		default:
			sc.Skip()
		}
	}
	if text = withoutTraceback(text); len(text) == 0 {
		return dst
	}
	if len(kind) > 0 {
		dst = append(append(dst, kind...), ": "...)
	}
	if dst = append(dst, text...); len(where) > 0 {
		dst = append(append(dst, ": "...), where...)
	}
	return dst
}

// message reads an object with a message, and the last name of the place that it is about.
func message(sc *jsonscan.Scanner) (text, where []byte) {
	for sc.Enter('{'); sc.More('}'); {
		switch key, next := string(sc.Key()), sc.Peek(); {
		case next == '"' && (key == "message" || key == "msg"):
			text = sc.Text()
		case next == '[' && key == "loc":
			for sc.Enter('['); sc.More(']'); {
				if sc.Peek() == '"' {
					where = sc.Text()
				} else {
					sc.Skip()
				}
			}
		default:
			sc.Skip()
		}
	}
	return text, where
}
