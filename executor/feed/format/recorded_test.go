package format

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/scenario"
)

// archive is an HTTP archive of entries "time method url body", one a line.
func archive(entries string) string {
	var list []string
	for line := range strings.SplitSeq(entries, "\n") {
		part := strings.SplitN(line, " ", 4)
		body := ""
		if len(part) == 4 {
			body = `,"postData":{"mimeType":"application/json","text":"` + strings.ReplaceAll(part[3], `"`, `\"`) + `"}`
		}
		list = append(list, `{"startedDateTime":"2025-01-31T10:00:`+part[0]+`Z","time":5,"request":{"method":"`+part[1]+
			`","headers":[],"url":"`+part[2]+`"`+body+`},"response":{}}`)
	}
	return `{"log":{"version":"1.2","pages":[],"entries":[` + strings.Join(list, ",\n") + `]}}`
}

func TestHAR(t *testing.T) {
	const ask = `POST https://h/api/v1/chat/completions {"model":"x","messages":[{}],"stream":true,"seed":1}`
	r, err := readText(HAR, "", archive("00.5 GET https://h/style.css\n00.75 "+ask+"\n01.9995 "+ask+"\n02 POST https://h/log {}"))
	want := "1 /api/v1/chat/completions 250 messages=[{}] seed=1\n2 /api/v1/chat/completions 1499.5 messages=[{}] seed=1"
	if got := show(r); err != nil || got != want || r.from.TimeUnit != msec {
		t.Errorf("%v\n got %s\nwant %s", err, got, want)
	}
	const left = "file: requests that are left out: 2, first file, entry 0, which has no body: GET https://h/style.css"
	if len(r.Diags) != 1 || r.Diags[0].Summary != left {
		t.Errorf("%v", r.Diags)
	}
	r, err = readText(HAR, "", archive("02 "+ask+"\n01 "+ask+"\n01 "+strings.Replace(ask, "POST", "PUT", 1)))
	want = "1 /api/v1/chat/completions 0 messages=[{}] seed=1\n0 /api/v1/chat/completions 1000 messages=[{}] seed=1"
	if got := show(r); err != nil || got != want {
		t.Errorf("in another order: %v\n got %s\nwant %s", err, got, want)
	}
	for _, c := range []unreadable{
		{`there are no requests in this file: an HTTP archive is {"log": {"entries": [entry, …]}}`, `{"log":{}}`},
		{"there are no requests in this file", `{"log":{"entries":[]}}`},
		{"no request can be sent: file, entry 0, which is for no endpoint that takes text: POST", archive("00 POST https://h/log {}")},
		{`line 2, column 123: it has no URL with a path`, archive("00 " + ask + "\n01 GET mailto:x")},
		{`line 1, column 239: its body: `, archive("00 POST https://h/v1/embeddings {")},
		{
			"line 2, column ", archive("00 " + ask + "\n" + `00 POST https://h/v1/embeddings {"input":"a"}`),
		},
		{"line 1, column 86: startedDateTime must be a time such as", strings.ReplaceAll(archive("00 "+ask), "2025-", "25-")},
		{"line 1, column ", `{"log":{"entries":[5]}}`},
		{"there are no requests in this file: an HTTP archive is", `{"log":`},
	} {
		if _, err := readText(HAR, "", c.text); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s:\n got %v\nwant %s", c.text, err, c.want)
		}
	}
}

func TestVegeta(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.json"), []byte(`{"model":"x","prompt":"a"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	read := func(text string, whole bool) (*reader, error) {
		r := newReader(&scenario.Dataset{Format: Vegeta})
		r.from, r.whole = &Origin{Name: "file", dir: dir}, whole
		return r, r.parse("file", []byte(text))
	}
	const lines = "# all\nPOST http://h/v1/completions\nX-A: b c\nX-FROM: a/b\n@a.json\n\nGET http://h/v1/models\nPOST http://h/v1/completions\n@a.json"
	const rows = `{"method":"POST","url":"http://h/v1/completions","body":"eyJwcm9tcHQiOiJhIn0=","header":{"X":["y"]}}`
	for text, want := range map[string]string{
		lines:                "2 /v1/completions prompt=\"a\"\n8 /v1/completions prompt=\"a\"",
		rows + "\n\n" + rows: "1 /v1/completions prompt=\"a\"\n3 /v1/completions prompt=\"a\"",
	} {
		if r, err := read(text, false); err != nil || show(r) != want {
			t.Errorf("%s: %v\n got %s\nwant %s", text, err, show(r), want)
		}
	}
	r, err := read(lines, true)
	if err != nil || len(r.Records) != 2 || string(r.Records[1].Body) != `{"model":"x","prompt":"a"}` || r.Records[1].Type != mediaJSON {
		t.Errorf("whole: %v %+v", err, r.Records)
	}
	for text, want := range map[string]string{
		"POST http://h/a\n@a.json\n\nPUT http://h/a\n@a.json":          "line 4: it is a PUT, and those before it are each a POST",
		"POST http://h/a?k=1\n@a.json\n\nPOST http://h/a?k=2\n@a.json": "line 4: its URL has another query",
	} {
		if _, err := read(text, true); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s:\n got %v\nwant %s", text, err, want)
		}
	}
	for _, c := range []unreadable{
		{"there are no requests in this file", "\n# none\n"},
		{"line 1: a target is METHOD URL", "http://h/v1/completions"},
		{"line 1: a target is METHOD URL", "@a.json"},
		{"line 2: file ", "POST http://h/v1/completions\n@none.json"},
		{"line 4: it goes to /v1/embeddings, and those before it to /v1/completions", "POST http://h/v1/completions\n@a.json\n\nPOST http://h/v1/embeddings\n@a.json"},
		{"no request can be sent: file, line 1, which has no body: GET http://h/v1/models", "GET http://h/v1/models"},
		{"line 1, column ", `{"method":"POST","url":"http://h/v1/completions","body":"-"}`},
		{"line 1, column ", `{"method":5}`},
	} {
		if _, err := read(c.text, false); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s:\n got %v\nwant %s", c.text, err, c.want)
		}
	}
}

// TestRecordedSecrets: a request that is named in a message has neither user nor query.
func TestRecordedSecrets(t *testing.T) {
	q := recordedRequest{method: "GET", url: "https://u:pw@h/cb?access_token=SECRET"}
	if got := q.shown(); got != "GET https://h/cb" {
		t.Error(got)
	}
	q.url = "https://u:pw@h/%zz"
	if got := q.shown(); got != "GET" {
		t.Error(got)
	}
}
