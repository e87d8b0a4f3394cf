package artifact

import (
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/schema"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var samples = map[string]func() *result.Result{
	"full": full, "interrupted": interrupted, "hostile": hostile, "empty": empty, "parts": parts,
}

// every artifact of r by file name, the terminal's as terminal.txt.
func every(t *testing.T, r *result.Result) map[string]string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "out")
	paths, err := write(dir, r, Options{Formats: stored(), Percentiles: percentiles})
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, p := range paths {
		text, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Base(p)] = string(text)
	}
	var b bytes.Buffer
	o := SummaryOptions{
		Width: 120, Percentiles: percentiles,
		Files: []string{"out/result.json", "out/stages.csv"},
	}
	if err := Summary(&b, r, o); err != nil {
		t.Fatal(err)
	}
	files["terminal.txt"] = b.String()
	return files
}

// write opens the folder and writes r into it. What was kept of requests is in it already.
func write(dir string, r *result.Result, o Options) ([]string, error) {
	if o.Samples != nil {
		return (&Folder{dir: dir, o: o, own: map[string]bool{}}).Write(r, o)
	}
	f, err := Open(dir, o)
	if err != nil {
		return nil, err
	}
	paths, err := f.Write(r, o)
	return paths, errors.Join(err, f.Close())
}

// Each artifact of each sample is what its golden file says, and the same again for the same input.
func TestGolden(t *testing.T) {
	for name, sample := range samples {
		t.Run(name, func(t *testing.T) {
			got, again := every(t, sample()), every(t, sample())
			if diff := cmp.Diff(got, again); diff != "" {
				t.Errorf("the same result gives other bytes:\n%s", diff)
			}
			delete(got, "result.json") // package result's own
			for file, text := range got {
				path := filepath.Join("testdata", name, file)
				if *update {
					if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755),
						os.WriteFile(path, []byte(text), 0o644)); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(string(want), text); diff != "" {
					t.Errorf("%s (- golden, + now)\n%s", path, diff)
				}
			}
			files, err := os.ReadDir(filepath.Join("testdata", name))
			if err != nil || len(files) != len(got) {
				t.Errorf("%d golden files for %d artifacts (%v)", len(files), len(got), err)
			}
		})
	}
}

// Every file is text that its readers take, whatever servers say.
func TestWellFormed(t *testing.T) {
	for name, sample := range samples {
		t.Run(name, func(t *testing.T) {
			for file, text := range every(t, sample()) {
				if !utf8.ValidString(text) {
					t.Errorf("%s is not UTF-8", file)
				}
				if file == "result.json" {
					if _, err := result.Read(strings.NewReader(text)); err != nil {
						t.Errorf("%s: %v", file, err)
					}
					if err := schema.ValidateResult([]byte(text)); err != nil {
						t.Errorf("%s is not valid:\n%v", file, err)
					}
					broken := strings.Replace(text, `"exit_code"`, `"exit_cod"`, 1)
					if err := schema.ValidateResult([]byte(broken)); err == nil {
						t.Error("the schema takes anything")
					}
					continue
				}
				if i := strings.IndexFunc(text, func(c rune) bool {
					return c < ' ' && c != '\n' ||
						c == 0x7f || c == '\u202e'
				}); i >= 0 {
					t.Errorf("%s has the control character %q", file, text[i])
				}
				switch filepath.Ext(file) {
				case ".csv":
					if _, err := csv.NewReader(strings.NewReader(text)).ReadAll(); err != nil {
						t.Errorf("%s: %v", file, err)
					}
				case ".xml":
					d := xml.NewDecoder(strings.NewReader(text))
					for {
						if _, err := d.Token(); errors.Is(err, io.EOF) {
							break
						} else if err != nil {
							t.Fatalf("%s: %v", file, err)
						}
					}
				case ".md":
					checkTables(t, text)
				}
			}
		})
	}
}

// checkTables counts the cells of each row of each Markdown table.
func checkTables(t *testing.T, text string) {
	t.Helper()
	cells := 0
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "|") {
			cells = 0
			continue
		}
		n := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|")
		if cells != 0 && n != cells {
			t.Errorf("a row has %d cells, the one before %d: %s", n-1, cells-1, line)
		}
		cells = n
		if strings.Contains(strings.ReplaceAll(line, "`", ""), "<script>") && !strings.Contains(line, "`") {
			t.Errorf("markup in a cell: %s", line)
		}
	}
}
