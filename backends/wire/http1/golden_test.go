package http1

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sluice-bench/sluice/backends"
)

// capture is one exchange of a real server, as its bytes came off the socket.
type capture struct {
	name, after    string
	reads          []int // bytes of each read
	request, reply []byte
}

// readCaptures reads testdata/golden: blobs framed by byte counts, each followed by one LF that is
// not counted.
//
//	=== CASE name after=STATE [request-body-cut=N]
//	=== READS seconds:bytes …
//	=== REQUEST bytes
//	=== RESPONSE bytes
func readCaptures(t testing.TB) (all []capture) {
	t.Helper()
	files, err := filepath.Glob("testdata/golden/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no captures: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		server := strings.TrimSuffix(filepath.Base(file), ".txt")
		for len(text) > 0 {
			line, rest, _ := bytes.Cut(text, []byte("\n"))
			word := strings.Fields(string(line))
			if len(word) < 3 || word[0] != "===" {
				t.Fatalf("%s: %q", file, line)
			}
			text = rest
			if word[1] == "CASE" {
				all = append(all, capture{name: server + "/" + word[2], after: strings.TrimPrefix(word[3], "after=")})
				continue
			}
			text = all[len(all)-1].take(t, word[1:], rest)
		}
	}
	return all
}

// take reads one part of a capture and gives what is behind it.
func (c *capture) take(t testing.TB, word []string, rest []byte) []byte {
	if word[0] == "READS" {
		for _, read := range word[1:] {
			_, n, _ := strings.Cut(read, ":")
			bytes, err := strconv.Atoi(n)
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			c.reads = append(c.reads, bytes)
		}
		return rest
	}
	n, err := strconv.Atoi(word[1])
	if err != nil || n+1 > len(rest) {
		t.Fatalf("%s: %v of %d", c.name, word, len(rest))
	}
	if word[0] == "REQUEST" {
		c.request = rest[:n]
	} else {
		c.reply = rest[:n]
	}
	return rest[n+1:]
}

// asRead cuts the reply as the capture's reads came; where an edit changed a length, the last read
// takes the rest.
func (c *capture) asRead() (cut [][]byte) {
	rest := c.reply
	for _, n := range c.reads[:len(c.reads)-1] {
		n = min(n, len(rest))
		cut, rest = append(cut, rest[:n]), rest[n:]
	}
	return append(cut, rest)
}

// want is what a capture must come out as: an independent reading of it, with the simplest means.
func (c *capture) want() string {
	head, body, _ := bytes.Cut(finalReply(c.reply), []byte("\r\n\r\n"))
	status := string(head[9:12])
	low := strings.ToLower(string(head))
	verb := "keep"
	if strings.Contains(low, "\r\nconnection: close") ||
		strings.Contains(strings.ToLower(string(c.request)), "\r\nconnection: close") {
		verb = "close"
	}
	switch {
	case bytes.HasPrefix(c.request, []byte("HEAD ")):
	case strings.Contains(low, "transfer-encoding: chunked"):
		if !bytes.HasSuffix(body, []byte("0\r\n\r\n")) {
			return status + " reset broken"
		}
	case strings.Contains(low, "content-length: "):
		_, n, _ := strings.Cut(low, "content-length: ")
		n, _, _ = strings.Cut(n, "\r\n")
		if n != strconv.Itoa(len(body)) {
			return "content-length " + n + " with " + strconv.Itoa(len(body)) + " bytes"
		}
	default:
		verb = "close" // ends with the connection
	}
	class := "ok"
	if status >= "300" {
		class = "status"
	}
	return status + " " + class + " " + verb
}

// head is the request in the form of Encode: names in lower case, and the end of the connection after Host.
func (c *capture) head() []byte {
	line, fields, _ := bytes.Cut(c.request, []byte{'\n'})
	first, rest, _ := bytes.Cut(bytes.ToLower(fields), []byte{'\n'})
	field := []byte("connection: close\r\n")
	if bytes.Contains(rest, field) {
		rest = append(field, bytes.Replace(rest, field, nil, 1)...)
	}
	return bytes.Join([][]byte{line, first, rest}, []byte{'\n'})
}

// finalReply is b without interim replies.
func finalReply(b []byte) []byte {
	for bytes.HasPrefix(b, []byte("HTTP/1.1 1")) {
		_, b, _ = bytes.Cut(b, []byte("\r\n\r\n"))
	}
	return b
}

func TestGolden(t *testing.T) {
	captures := readCaptures(t)
	if len(captures) < 141 {
		t.Errorf("only %d captures", len(captures))
	}
	words := map[backends.Next]string{
		backends.NextKeep: "keep", backends.NextClose: "close", backends.NextBroken: "broken",
		backends.NextStale: "stale",
	}
	r := &recorder{keep: 1 << 20}
	w := New(r)
	for _, c := range captures {
		t.Run(c.name, func(t *testing.T) {
			call := &backends.Call{Head: c.head()}
			whole, s := play(w, r, call, pieces(c.reply, 0), true)
			got := fmt.Sprintf("%d %v %s", whole.Status, whole.Class, words[whole.Next])
			if got != c.want() || whole.Rest != 0 {
				t.Errorf("got %s, rest %d, note %q; want %s", got, whole.Rest, s.Note, c.want())
			}
			if c.after == "kept-open" && whole.Next == backends.NextBroken {
				t.Errorf("the server kept the connection, the wire did not: %s", s.Note)
			}
			for cut, reads := range map[string][][]byte{
				"bytes": pieces(c.reply, 1), "sevens": pieces(c.reply, 7), "reads": c.asRead(),
			} {
				if parts, _ := play(w, r, call, reads, true); parts != whole {
					t.Errorf("in %s (-whole +cut):\n%s", cut, cmp.Diff(whole, parts))
				}
			}
		})
	}
}

// The captures that are worth a name of their own.
func TestGoldenByName(t *testing.T) {
	for name, want := range map[string]string{
		"mlserver/generate_stream_unknown": "200 reset before the last chunk",
		"kserve/infer_shape_mismatch":      "500 status",
		"kserve/infer_500_no_close_header": "500 status",
		"torchserve/predict_text":          "200 ok",
		"torchserve/conn_close":            "200 ok",
		"torchserve/http10":                "200 ok",
		"torchserve/predict_stream":        "200 ok",
		"torchserve/big_body":              "413 status",
		"mlserver/head_ready":              "405 status",
		"kserve/expect_100":                "200 ok",
		"mlserver/expect_100":              "200 ok",
	} {
		found := false
		for _, c := range readCaptures(t) {
			if c.name != name {
				continue
			}
			found = true
			r := &recorder{keep: 1 << 20}
			got, s := play(New(r), r, &backends.Call{Head: c.request}, pieces(c.reply, 0), true)
			text := fmt.Sprintf("%d %v", got.Status, got.Class)
			if !strings.HasPrefix(want, text) ||
				!strings.Contains(string(s.Note), strings.TrimPrefix(strings.TrimPrefix(want, text), " ")) {
				t.Errorf("%s: %s %q, want %s", name, text, s.Note, want)
			}
		}
		if !found {
			t.Errorf("%s is not there", name)
		}
	}
}
