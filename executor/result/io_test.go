package result

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-bench/sluice/executor/stats"
	"github.com/sluice-bench/sluice/schema"
)

func text(t testing.TB, r *Result) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestWriteReadWrite(t *testing.T) {
	first := text(t, sample())
	back, err := Read(strings.NewReader(first))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first, text(t, back)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(first, text(t, sample())); diff != "" {
		t.Errorf("the same result gives other bytes:\n%s", diff)
	}
	for _, want := range []string{
		`"started": "2026-01-02T02:04:05.000000006Z"`, // UTC
		`"clients": []`, `"findings": []`, `"slices": []`, `"errors": []`, `"assertions": []`,
	} {
		if !strings.Contains(first, want) {
			t.Errorf("no %s in the result", want)
		}
	}
	for _, never := range []string{"NaN", "Inf", `"nodes": null`} {
		if strings.Contains(first, never) {
			t.Errorf("%s in the result", never)
		}
	}
}

func TestWriteLeavesTheResultAlone(t *testing.T) {
	r := sample()
	text(t, r)
	if r.Clients != nil || r.Nodes[0].Slices != nil || r.Started.Location().String() == "UTC" {
		t.Error("Write changed its argument")
	}
}

func TestReadRefuses(t *testing.T) {
	whole := text(t, &Result{})
	tests := []struct{ name, text, want string }{
		{"nothing", "", "EOF"},
		{"half", whole[:len(whole)/2], "unexpected EOF"},
		{"no JSON", "schema: sluice/result/v1", "invalid character"},
		{
			"another schema", strings.Replace(whole, Schema, "sluice/result/v2", 1),
			`schema is "sluice/result/v2", want "sluice/result/v1"`,
		},
		{"no schema", "{}", `schema is "", want "sluice/result/v1"`},
		{"two documents", whole + whole, "something follows the result"},
		{"null node", strings.Replace(whole, `"nodes": []`, `"nodes": [null]`, 1), "nodes[0] is null"},
		{"wrong type", strings.Replace(whole, `"exit_code": 0`, `"exit_code": "0"`, 1), "exit_code"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Read(strings.NewReader(tt.text))
			if err == nil || !strings.Contains(err.Error(), tt.want) ||
				!strings.HasPrefix(err.Error(), "read result: ") {
				t.Errorf("error = %v, want one with %q", err, tt.want)
			}
		})
	}
}

// endless is a result whose name never ends.
type endless struct{ started bool }

func (e *endless) Read(p []byte) (int, error) {
	n := 0
	if !e.started {
		e.started = true
		n = copy(p, `{"schema": "`)
	}
	for i := n; i < len(p); i++ {
		p[i] = 'x'
	}
	return len(p), nil
}

func TestReadIsCapped(t *testing.T) {
	if _, err := read(&endless{}, 1<<16); err == nil ||
		!strings.Contains(err.Error(), "larger than 65536 bytes") {
		t.Errorf("error = %v", err)
	}
}

// TestWriteRunning: a result of a run that goes on has no verdict, nor an exit code, which would be 0.
func TestWriteRunning(t *testing.T) {
	r := sample()
	r.State, r.Files, r.Nodes = StateRunning, []string{"result.json", "junit.xml"}, r.Nodes[:1]
	first := text(t, r)
	if err := schema.ValidateResult([]byte(first)); err != nil {
		t.Error(err)
	}
	var document map[string]any
	if err := json.Unmarshal([]byte(first), &document); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"verdict", "exit_code", "reason", "ended"} {
		if v, ok := document[key]; ok {
			t.Errorf("%s is %v", key, v)
		}
		wrong := strings.Replace(first, `"state"`, `"`+key+`": "pass", "state"`, 1)
		if err := schema.ValidateResult([]byte(wrong)); err == nil {
			t.Errorf("the schema lets a running result have the key %s", key)
		}
	}
	back, err := Read(strings.NewReader(first))
	if err != nil || back.State != StateRunning || len(back.Files) != 2 || len(back.Nodes) != len(r.Nodes) {
		t.Errorf("read back: %+v, %v", back, err)
	}
}

// TestReadEarlierForm: results had a key "partial" before they had a state.
func TestReadEarlierForm(t *testing.T) {
	whole := text(t, sample())
	for old, want := range map[string]State{`"partial": true`: StatePartial, `"partial": false`: StateDone} {
		r, err := Read(strings.NewReader(strings.Replace(whole, `"state": "done"`, old, 1)))
		if err != nil || r.State != want {
			t.Errorf("%s: %+v, %v", old, r, err)
		}
	}
}

func TestReadHeader(t *testing.T) {
	r := sample()
	r.Verdict, r.Files = Pass, []string{"result.json"}
	h, err := ReadHeader(strings.NewReader(text(t, r)))
	if err != nil || h.Verdict != Pass || !h.Started.Equal(r.Started) || h.State != StateDone ||
		len(h.Files) != 1 {
		t.Errorf("%+v, %v", h, err)
	}
	for _, wrong := range []string{
		"", "{}", "[]", `{"schema": "sluice/result/v1"} x`,
		`{"schema": "sluice/result/v1", "files": {}}`,
	} {
		if h, err := ReadHeader(strings.NewReader(wrong)); err == nil {
			t.Errorf("%q was read as %+v", wrong, h)
		}
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestWriteTellsOfAFullDisk(t *testing.T) {
	if err := Write(fullDisk{}, sample()); err == nil || err.Error() != "write result: disk full" {
		t.Errorf("error = %v", err)
	}
}

// Whatever is read without an error can be asked and written again.
func FuzzRead(f *testing.F) {
	f.Add(text(f, sample()))
	f.Add(text(f, &Result{}))
	f.Add(`{"schema":"sluice/result/v1","nodes":[{"id":"a","metrics":{"latency":null,"requests.count":{"unit":"1","value":-1}}}]}`)
	f.Add(`{"schema":"sluice/result/v1","nodes":[{"metrics":{"latency":{"unit":"s","count":9,"p50":1,"distribution":{}}}}]}`)
	f.Add(`{"schema":"sluice/result/v1","nodes":[{"metrics":{"requests.count":{"unit":"1","value":99},` +
		`"errors.ratio":{"unit":"ratio","value":0.5,"parts":{"seconds":1,"counts":[1,2,3,4,5,6,7,8,9,9],"of":[9]}}}}]}`)
	f.Add(`{"schema":"sluice/result/v1","nodes":[{"metrics":{"requests.count":{"unit":"1","value":90},` +
		`"errors.ratio":{"unit":"ratio","value":0.5,"parts":{"seconds":1,"counts":[1,2,3,4,5,6,7,8,9,9],` +
		`"of":[9,9,9,9,9,9,9,9,9,9]}}}}]}`)
	f.Fuzz(func(t *testing.T, in string) {
		r, err := Read(strings.NewReader(in))
		if err != nil {
			return
		}
		for _, n := range r.Nodes {
			v := Values(r, n)
			for _, path := range []string{
				"latency.p99", "latency.mean", "errors.count", "throughput",
				"requests.count", "errors.ratio",
			} {
				v.Demanding(0.95, 0, nil).Quantity(ref(t, "", path))
				q := v.Quantity(ref(t, "", path))
				if !q.Known && q.Why == "" {
					t.Errorf("%s is unknown and nothing says why", path)
				}
				v.Exceeding(ref(t, "", path), "<", 0.05)
			}
		}
		first := text(t, r)
		again, err := Read(strings.NewReader(first))
		if err != nil {
			t.Fatalf("%v\n%s", err, first)
		}
		if diff := cmp.Diff(first, text(t, again)); diff != "" {
			t.Error(diff)
		}
	})
}

// TestReadParts: parts whose numbers contradict each other are an error of reading the result.
func TestReadParts(t *testing.T) {
	for parts, want := range map[string]string{
		`{"seconds": 2, "counts": [1, 0], "of": [2, 2]}`: "",
		`{"seconds": 2, "counts": [1, 0]}`:               "",
		`{"seconds": 2}`:                                 "",
		`null`:                                           "",
		`{"seconds": 0, "counts": [1]}`:                  "read parts: they last 0 s, not longer than 0",
		`{"seconds": 2, "counts": [1, 0], "of": [2]}`:    "read parts: 2 counts of 1 numbers of requests",
		`{"seconds": 2, "of": [2]}`:                      "read parts: 0 counts of 1 numbers of requests",
		`{"seconds": 2, "counts": [-1]}`:                 "read parts: a count is negative",
		`{"seconds": 2, "counts": [1], "of": [-1]}`:      "read parts: a count is negative",
		`{"seconds": 2, "counts": [0` + strings.Repeat(", 0", stats.MaxParts) + `]}`: fmt.Sprintf(
			"read parts: %d counts, at most %d", stats.MaxParts+1, stats.MaxParts),
	} {
		_, err := Read(strings.NewReader(`{"schema":"` + Schema + `","nodes":[{"id":"a","metrics":{` +
			`"errors.ratio":{"unit":"ratio","value":0.5,"parts":` + parts + `}}}]}`))
		if got := fmt.Sprint(err); want == "" && err != nil || !strings.Contains(got, want) {
			t.Errorf("%s: %v, want %q", parts, err, want)
		}
	}
}

// TestReadOlderCodes: findings of older results, spelled with underscores, get the codes of today.
func TestReadOlderCodes(t *testing.T) {
	text := `{"schema":"` + Schema + `","nodes":[{"id":"a",
		"validity":{"ok":true,"findings":[{"code":"never_reached_concurrency","severity":"note","text":"x"}]},
		"repeats":[{"repeat":0,"findings":[{"code":"clean-up","severity":"note","text":"x"}]}]}]}`
	r, err := Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	n := r.Nodes[0]
	got := []string{n.Validity.Findings[0].Code, n.Repeats[0].Findings[0].Code}
	if want := []string{"never-reached-concurrency", CleanUp}; !slices.Equal(got, want) {
		t.Errorf("codes %q, want %q", got, want)
	}
}
