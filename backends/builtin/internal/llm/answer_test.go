package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "write the answers into testdata")

// TestAnswers: each file of testdata has a request to an endpoint, and settings of the server (both JSON),
// and what the answer is as a stream and in one piece. The text is that of the first two or three words.
func TestAnswers(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(err, "no answers")
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			of := endpointOf(t, a.Comment)
			var g Generation
			if err := json.Unmarshal(a.Files[1].Data, &g); err != nil {
				t.Fatal(err)
			}
			got := []byte(streamed(t, of, g, a.Files[0].Data))
			a.Files = append(a.Files[:2:2], txtar.File{Name: "stream", Data: got},
				txtar.File{Name: "whole", Data: indented(t, whole(t, of, g, a.Files[0].Data))})
			want, _ := os.ReadFile(file)
			if *update {
				if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(want), string(txtar.Format(a))); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// endpointOf returns the endpoint whose path is in the first line of a file.
func endpointOf(t *testing.T, comment []byte) Endpoint {
	t.Helper()
	path, _, _ := bytes.Cut(comment, []byte("\n"))
	of, ok := Paths()[string(path)]
	if !ok {
		t.Fatalf("no endpoint %q", path)
	}
	return of
}

// streamed returns the stream of a request.
func streamed(t *testing.T, of Endpoint, g Generation, body []byte) string {
	t.Helper()
	a, err := Read(of, g, body)
	if err != nil {
		t.Fatal(err)
	}
	a.Cached = 1
	a.Start()
	for _, p := range a.Timeline(0, func() time.Duration { return time.Millisecond }) {
		a.Add(p)
	}
	return a.Out.String()
}

// whole returns the reply to a request in one piece.
func whole(t *testing.T, of Endpoint, g Generation, body []byte) []byte {
	t.Helper()
	a, err := Read(of, g, body)
	if err != nil {
		t.Fatal(err)
	}
	a.Cached = 1
	return a.Whole()
}

func indented(t *testing.T, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := json.Indent(&b, text, "", "  "); err != nil {
		t.Fatal(err)
	}
	b.WriteByte('\n')
	return b.Bytes()
}

// TestArguments: the parts of a tool call's arguments are one JSON object, in every form and however many
// tokens an event has.
func TestArguments(t *testing.T) {
	parts := map[Endpoint]*regexp.Regexp{
		Chat:      regexp.MustCompile(`"arguments":("(?:[^"\\]|\\.)*")`),
		Messages:  regexp.MustCompile(`"partial_json":("(?:[^"\\]|\\.)*")`),
		Responses: regexp.MustCompile(`"delta":("(?:[^"\\]|\\.)*")`),
	}
	for of, part := range parts {
		for each := 1; each <= 4; each++ {
			body := `{"model":"chat","max_tokens":4,"max_output_tokens":4,"input":"a",` +
				`"messages":[{"role":"user","content":"a"}]}`
			var all strings.Builder
			for _, m := range part.FindAllStringSubmatch(streamed(t, of,
				Generation{ToolCalls: true, TokensPerEvent: each}, []byte(body)), -1) {
				var some string
				if err := json.Unmarshal([]byte(m[1]), &some); err != nil {
					t.Fatal(err)
				}
				all.WriteString(some)
			}
			if all := all.String(); all != `{"text":" the quick brown fox"}` {
				t.Errorf("endpoint %d, %d tokens an event: %s", of, each, all)
			}
		}
	}
}

// TestRefusals: mistakes of a request get an error, in the form of the endpoint.
func TestRefusals(t *testing.T) {
	const talk = `"messages":[{"role":"user","content":"a"}]`
	for _, c := range []struct {
		of         Endpoint
		body, want string
	}{
		{Chat, `{`, `400 {"error":{"message":"We could not parse the JSON body of your request: ` +
			`unexpected end of JSON input","type":"invalid_request_error","param":null,"code":null}}`},
		{Responses, `{"model":"chat"}`, `400 {"error":{"message":"Missing required parameter: 'input'.",` +
			`"type":"invalid_request_error","param":"input","code":null}}`},
		{Messages, `{"model":"chat",` + talk + `}`, `400 {"error":{"message":"max_tokens: Field required",` +
			`"type":"invalid_request_error"},"type":"error"}`},
		{Messages, `{"model":"chat","max_tokens":1}`, `400 {"error":{"message":"Missing required parameter: ` +
			`'messages'.","type":"invalid_request_error"},"type":"error"}`},
		{
			Messages, `{"model":"x","max_tokens":1,` + talk + `}`,
			"404 {\"error\":{\"message\":\"The model `x` does not exist\"," +
				`"type":"not_found_error"},"type":"error"}`,
		},
		{Chat, `{` + talk + `}`, `400 {"error":{"message":"you must provide a model parameter",` +
			`"type":"invalid_request_error","param":"model","code":null}}`},
		{Chat, `{"model":"chat","n":17,` + talk + `}`, `400 {"error":{"message":"n must be from 1 to 16, got 17",` +
			`"type":"invalid_request_error","param":"n","code":null}}`},
	} {
		_, err := Read(c.of, Generation{}, []byte(c.body))
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%s: %v", c.body, err)
			continue
		}
		if diff := cmp.Diff(c.want, fmt.Sprintf("%d %s", e.Status, e.Body(c.of))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.body, diff)
		}
	}
}

// TestFail: an error takes the place of the rest of a stream.
func TestFail(t *testing.T) {
	for of, want := range map[Endpoint]string{
		Chat: `data: {"error":{"message":"simulated failure","type":"server_error","param":null,"code":500}}`,
		Responses: "event: error\n" +
			`data: {"code":"server_error","message":"simulated failure","param":null,"type":"error"}`,
		Messages: "event: error\n" +
			`data: {"error":{"message":"simulated failure","type":"api_error"},"type":"error"}`,
	} {
		a := Answer{of: of}
		a.Fail(Simulated())
		if diff := cmp.Diff(want+"\n\n", a.Out.String()); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
}

// TestEndless: the limit that messages must have does not make a text longer than the model's own.
func TestEndless(t *testing.T) {
	for limit, want := range map[int]int{1: 1, endless - 1: endless - 1, endless: 3, 16384: 3} {
		a, err := Read(Messages, Generation{OutputTokens: 3}, fmt.Appendf(nil,
			`{"model":"chat","max_tokens":%d,"messages":[{"role":"user","content":"a"}]}`, limit))
		if err != nil || a.tokens != want || (a.reason == "length") != (want == limit) {
			t.Errorf("max_tokens %d: %+v %v, want %d tokens", limit, a, err, want)
		}
	}
}
