package source

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const shown = "version: 1\n\tname:\tx\ntarget: {猫猫: \"é\", url: 'grpc://h'}\r\nstages: [latency.p99 < 5ms]\n"

func shownFile(file string) []byte {
	if file == "plan.yaml" {
		return []byte(shown)
	}
	return nil
}

func samples() Diagnostics {
	at := func(line, column int) Pos { return Pos{"plan.yaml", line, column} }
	return Diagnostics{
		{
			Severity: Error, Code: "unknown-key", Summary: "`vers` is not a key of a plan", Pos: at(1, 1), Width: 7,
			Allowed: []string{"version", "name"}, Nearest: "version", Path: "/vers",
		},
		{
			Severity: Warning, Code: "tab", Summary: "a tab\tinside", Detail: "first line\nsecond line",
			Pos: at(2, 7), Width: 1,
		},
		{Severity: Error, Code: "wide", Summary: "wide characters", Pos: at(3, 10), Width: 2, Path: "/target/猫猫"},
		{Severity: Error, Code: "behind", Summary: "behind wide characters", Pos: at(3, 19), Width: 3},
		{Severity: Error, Code: "end", Summary: "the end of a line", Pos: at(4, 30)},
		{Severity: Error, Code: "over", Summary: "more than the line", Pos: at(4, 10), Width: 500},
		{Severity: Error, Code: "nowhere", Summary: "without a place"},
		{Severity: Error, Code: "far", Summary: "a line that is not there", Pos: at(99, 7)},
		{Severity: Error, Code: "other", Summary: "another file\x1b[31m", Pos: Pos{"other.yaml", 3, 7}},
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

func TestRender(t *testing.T) {
	var plain, color bytes.Buffer
	if err := Render(&plain, samples(), shownFile, Look{}); err != nil {
		t.Fatal(err)
	}
	golden(t, "render.txt", plain.Bytes())
	if err := Render(&color, samples(), shownFile, Look{Color: true}); err != nil {
		t.Fatal(err)
	}
	bare := color.String()
	for _, code := range []string{colorReset, colorBold, colorRed, colorYellow, colorBlue} {
		bare = strings.ReplaceAll(bare, code, "")
	}
	if diff := cmp.Diff(plain.String(), bare); diff != "" || color.Len() == plain.Len() {
		t.Errorf("color changes more than color, or nothing:\n%s", diff)
	}
	if strings.Contains(plain.String(), "\x1b") {
		t.Error("a control character of the plan reaches the terminal")
	}
}

func TestRenderCutsLongLines(t *testing.T) {
	text := strings.Repeat("é", 300) + "HERE" + strings.Repeat("x", 300)
	var b strings.Builder
	ds := Diagnostics{{Severity: Error, Summary: "s", Pos: Pos{"p", 1, 301}, Width: 4}}
	if err := Render(&b, ds, func(string) []byte { return []byte(text) }, Look{}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(b.String(), "\n")
	source, marks := []rune(lines[3]), lines[4]
	at := strings.Index(marks, "^")
	if len(source) > 180 || string(source[at:at+4]) != "HERE" || strings.Count(marks, "^") != 4 {
		t.Errorf("%s", b.String())
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestRenderFails(t *testing.T) {
	if err := Render(brokenWriter{}, samples(), shownFile, Look{}); err == nil {
		t.Error("an error of the writer is lost")
	}
}

func TestDiagnosticsJSON(t *testing.T) {
	data, err := JSON(samples(), shownFile, nil)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "diagnostics.json", data)

	var report jsonReport
	if err := json.Unmarshal(data, &report); err != nil {
		t.Fatal(err)
	}
	if report.Valid || report.ErrorCount != 8 || report.WarningCount != 1 {
		t.Errorf("counts: %+v", report)
	}
	marked := map[string]string{"unknown-key": "version", "tab": "\t", "wide": "猫猫", "behind": "url"}
	for _, d := range report.Diagnostics {
		want, ok := marked[d.Code]
		if !ok {
			continue
		}
		if got := shown[d.Range.Start.Byte:d.Range.End.Byte]; got != want {
			t.Errorf("%s: the bytes of the range are %q, want %q", d.Code, got, want)
		}
		if got := d.Snippet.Code[d.Snippet.HighlightStartOffset:d.Snippet.HighlightEndOffset]; got != want {
			t.Errorf("%s: the highlight is %q, want %q", d.Code, got, want)
		}
	}
}

func TestDiagnosticsJSONWithoutMistakes(t *testing.T) {
	data, err := JSON(nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := `{
  "format_version": "1.0",
  "valid": true,
  "error_count": 0,
  "warning_count": 0,
  "diagnostics": []
}
`
	if diff := cmp.Diff(want, string(data)); diff != "" {
		t.Error(diff)
	}
}

func TestBytesCountTheByteOrderMark(t *testing.T) {
	text := "\ufeffa: é\nb: 1\n"
	ds := Diagnostics{{Severity: Error, Pos: Pos{"p", 2, 4}}}
	data, err := JSON(ds, func(string) []byte { return []byte(text) }, nil)
	if err != nil {
		t.Fatal(err)
	}
	var report jsonReport
	if err := json.Unmarshal(data, &report); err != nil {
		t.Fatal(err)
	}
	if r := report.Diagnostics[0].Range; text[r.Start.Byte:r.End.Byte] != "1" {
		t.Errorf("range %+v marks %q", r, text[r.Start.Byte:r.End.Byte])
	}
}

func TestSorted(t *testing.T) {
	d := func(file string, line, column int, code, summary string) Diagnostic {
		return Diagnostic{Severity: Error, Pos: Pos{file, line, column}, Code: code, Summary: summary}
	}
	ds := Diagnostics{
		d("b", 1, 1, "x", "s"), d("a", 2, 1, "x", "s"), d("a", 1, 9, "x", "s"), d("a", 1, 2, "y", "s"),
		d("a", 1, 2, "x", "t"), d("a", 1, 2, "x", "s"), d("a", 1, 2, "x", "s"),
	}
	want := Diagnostics{ds[5], ds[4], ds[3], ds[2], ds[1], ds[0]}
	first := ds[0]
	if diff := cmp.Diff(want, ds.Sorted()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !cmp.Equal(ds[0], first) {
		t.Error("the original was sorted")
	}
}

func TestDiagnosticsAsError(t *testing.T) {
	ds := Diagnostics{{Severity: Warning, Summary: "w", Pos: Pos{"p", 1, 1}}}
	if ds.HasErrors() {
		t.Error("a warning is no error")
	}
	ds = append(ds, Diagnostic{Severity: Error, Summary: "e", Pos: Pos{"p", 2, 3}})
	var err error = ds
	var back Diagnostics
	if !errors.As(err, &back) || len(back) != 2 {
		t.Errorf("%v does not lead back", err)
	}
	if want := "p:1:1: warning: w\np:2:3: error: e"; err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
}
