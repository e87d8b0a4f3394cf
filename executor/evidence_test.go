package executor

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/backends/all"
	"github.com/sluice-bench/sluice/backends/backendtest/cases"
	"github.com/sluice-bench/sluice/backends/builtin"
	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/source"
)

// evidenceCase is one block of testdata/evidence.txt.
type evidenceCase struct {
	kind, name string
	line       int
	config     builtin.Config
	replies    [][2]string // what a proxy replaces in the server's replies
	baseline   string      // --baseline
	only       []string    // --only
	plan       string
	code       int
	text       string // in the reason, or in the first mistake
}

// TestNoPassWithoutEvidence plays every plan of testdata/evidence.txt: ways to a green light that
// nothing was measured for. Each ends with the exit code that is written below it, and never with
// 0, but for those of the kind "evidence".
func TestNoPassWithoutEvidence(t *testing.T) {
	t.Parallel()
	dir := evidenceFiles(t)
	kinds := map[string]int{}
	for _, c := range evidenceCases(t) {
		kinds[c.kind]++
		if passes := c.kind == "evidence"; passes != (c.code == 0) {
			t.Errorf("evidence.txt:%d: %s: exit code %d under %q", c.line, c.name, c.code, c.kind)
		}
		if (testing.Short() || !cases.All()) && kinds[c.kind]%8 != 1 { // the first of each kind is among them
			continue
		}
		t.Run(c.kind+"/"+c.name, func(t *testing.T) {
			t.Parallel()
			if code, text := c.run(t, dir); code != c.code ||
				!strings.Contains(text, strings.ReplaceAll(c.text, "DIR", dir)) {
				t.Errorf("evidence.txt:%d: exit %d: %s\nwant %d: %s", c.line, code, text, c.code, c.text)
			}
		})
	}
	total := 0
	for kind, n := range kinds {
		if total += n; n < 5 {
			t.Errorf("%d plans of kind %q", n, kind)
		}
	}
	if len(kinds) < 13 || total < 75 {
		t.Errorf("%d plans of %d kinds", total, len(kinds))
	}
}

// run plays a plan as `sluice run` does, and gives the exit code and why.
func (c evidenceCase) run(t *testing.T, dir string) (code int, text string) {
	s := serve(t, c.config)
	url := s.HTTPURL()
	if c.replies != nil {
		url = rewriting(t, url, c.replies)
	}
	text = c.plan
	if !strings.Contains(text, "target") {
		text = "target: {backend: kserve, url: URL, model: simple, ready: 0s}\n" + text
	}
	text = strings.NewReplacer("URL", url, "DIR", dir).Replace("version: 1\nname: plan\n" + text)
	o := scenario.Overrides{}
	if c.baseline != "" {
		o.Baseline = filepath.Join(dir, c.baseline)
	}
	plan, diags := scenario.Parse(filepath.Join(dir, "plan.yaml"), []byte(text), o)
	if diags.HasErrors() {
		return 2, firstError(diags)
	}
	if c.only != nil {
		if err := program.Only(plan, all.Kinds(), c.only); err != nil {
			return 2, err.Error()
		}
	}
	compiled, diags := program.Compile(plan, all.Kinds())
	if diags.HasErrors() {
		return 2, firstError(diags)
	}
	r, diags := Run(t.Context(), compiled, Env{})
	if diags.HasErrors() {
		return r.ExitCode, firstError(diags)
	}
	checkResult(t, r)
	return r.ExitCode, r.Reason
}

func firstError(ds source.Diagnostics) string {
	for _, d := range ds {
		if d.Severity == source.Error {
			return fmt.Sprintf("%s: %s %s", d.Pos, d.Summary, d.Detail)
		}
	}
	return ""
}

// rewriting is a proxy in front of a server that replaces texts in its replies to inference.
func rewriting(t *testing.T, server string, replies [][2]string) string {
	front := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, in *http.Request) {
		req, err := http.NewRequestWithContext(in.Context(), in.Method, server+in.URL.RequestURI(), in.Body)
		if err != nil {
			panic(err)
		}
		req.Header, req.ContentLength = in.Header.Clone(), in.ContentLength
		reply, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			out.WriteHeader(http.StatusBadGateway)
			return
		}
		defer reply.Body.Close()
		body, _ := io.ReadAll(reply.Body)
		if in.Method == http.MethodPost {
			for _, r := range replies {
				body = bytes.ReplaceAll(body, []byte(r[0]), []byte(r[1]))
			}
		}
		out.Header().Set("Content-Type", reply.Header.Get("Content-Type"))
		out.WriteHeader(reply.StatusCode)
		_, _ = out.Write(body)
	}))
	t.Cleanup(func() {
		front.Close()
		http.DefaultClient.CloseIdleConnections()
	})
	return front.URL
}

// evidenceFiles are the data and the results that plans of evidence.txt name.
func evidenceFiles(t *testing.T) string {
	dir := t.TempDir()
	s := serve(t, builtin.Config{})
	r := play(t,
		"version: 1\nname: plan\ntarget: {backend: kserve, url: URL, model: simple, ready: 0s}\nstages: [{id: "+
			"s, load: {concurrency: 1}, for: 20 requests}]\n",
		s.HTTPURL(), Env{})
	for file, change := range map[string]func(r *result.Result){
		"passed.json":            func(*result.Result) {},
		"failed.json":            func(r *result.Result) { r.Verdict, r.ExitCode, r.Reason = result.Fail, 1, "s/1: too slow" },
		"inconclusive.json":      func(r *result.Result) { r.Verdict, r.ExitCode, r.Reason = result.Inconclusive, 3, "too few" },
		"allowed.json":           func(r *result.Result) { r.Verdict, r.ExitCode, r.Reason = result.Inconclusive, 0, "too few" },
		"partial.json":           func(r *result.Result) { r.State, r.Verdict, r.ExitCode = result.StatePartial, result.Interrupted, 130 },
		"half.json":              func(r *result.Result) { r.State = result.StatePartial },
		"running.json":           func(r *result.Result) { r.State, r.Verdict, r.Reason = result.StateRunning, "", "" },
		"other.json":             func(r *result.Result) { r.Plan.Name, r.Nodes[0].ID, r.Nodes[0].Stage = "other", "old", "old" },
		"failures/a/result.json": func(r *result.Result) { r.Verdict, r.ExitCode = result.Fail, 1 },
		"others/a/result.json":   func(r *result.Result) { r.Plan.Name = "other" },
		"results/a/result.json":  func(*result.Result) {},
		"results/b/result.json": func(r *result.Result) {
			r.Started, r.Verdict, r.ExitCode = r.Started.AddDate(1,
				0, 0), result.Fail, 1
		},
	} {
		changed, nodes := *r, *r.Nodes[0]
		changed.Nodes = []*result.Node{&nodes}
		change(&changed)
		var b bytes.Buffer
		if err := result.Write(&b, &changed); err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(dir, file), b.String())
	}
	sixteen := strings.TrimSuffix(strings.Repeat("1,", 16), ",")
	for file, text := range map[string]string{
		"nothing/none.txt": "", "no-result.json": `{"hello": "world"}`, "empty.jsonl": "",
		"empty.json": `{"data": []}`, "empty.csv": "INPUT0,INPUT1\n", "empty.txt": "",
		"far.txt": "36000000\n",
		"unexpected.json": fmt.Sprintf(`{"data":[{"INPUT0":[%[1]s],"INPUT1":[%[1]s]}],"validation_data":[{}]}`,
			sixteen),
		"right.json": fmt.Sprintf(`{"data":[{"INPUT0":[%[1]s],"INPUT1":[%[1]s]}],`+
			`"validation_data":[{"OUTPUT0":[%[2]s]}]}`, sixteen, strings.ReplaceAll(sixteen, "1", "2")),
	} {
		writeFile(t, filepath.Join(dir, file), text)
	}
	return dir
}

func writeFile(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// evidenceCases reads testdata/evidence.txt, whose first lines say how it is written.
func evidenceCases(t *testing.T) (list []evidenceCase) {
	text, err := os.ReadFile("testdata/evidence.txt")
	if err != nil {
		t.Fatal(err)
	}
	kind := ""
	var c *evidenceCase
	for i, line := range strings.Split(string(text), "\n") {
		word, rest, _ := strings.Cut(line, " ")
		switch {
		case strings.HasPrefix(line, "#") || line == "":
		case word == "==":
			kind = rest
		case word == "--":
			list = append(list, evidenceCase{kind: kind, name: rest, line: i + 1, code: -1})
			c = &list[len(list)-1]
		case word == "server":
			if err := json.Unmarshal([]byte(rest), &c.config); err != nil {
				t.Fatalf("evidence.txt:%d: %v", i+1, err)
			}
		case word == "replies":
			from, to, _ := strings.Cut(rest, " => ")
			c.replies = append(c.replies, [2]string{from, to})
		case word == "--baseline":
			c.baseline = rest
		case word == "--only":
			c.only = strings.Fields(rest)
		case word == "exit":
			code, why, _ := strings.Cut(rest, " ")
			if c.code, err = strconv.Atoi(code); err != nil || why == "" {
				t.Fatalf("evidence.txt:%d: %s", i+1, line)
			}
			c.text = why
		default:
			c.plan += line + "\n"
		}
	}
	return list
}
