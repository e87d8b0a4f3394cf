package artifact

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-bench/sluice/executor/result"
)

// all are options for every file that is made of a result.
func all() Options {
	return Options{Formats: stored(), Percentiles: percentiles, Fail: func(r *result.Result, err error) {
		r.Verdict, r.ExitCode, r.Reason = result.ErrorVerdict, 6, err.Error()
	}}
}

func passed() *result.Result {
	r := full()
	r.Verdict, r.ExitCode, r.Reason, r.Assertions = result.Pass, 0, "2 assertions passed", nil
	r.Nodes = r.Nodes[:1]
	r.Nodes[0].Assertions, r.Nodes[0].Errors, r.Nodes[0].Outcome, r.Nodes[0].Validity.OK = nil, nil,
		result.Done, true
	return r
}

// verdicts reads what the files of a folder say of the run: "" of a file that is not there.
func verdicts(t *testing.T, dir string) (json, junit, markdown string) {
	t.Helper()
	read := func(name string) string {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, syscall.EISDIR) {
			t.Fatal(err)
		}
		return string(data)
	}
	if h := Earlier(dir); h != nil {
		json = string(h.State) + " " + string(h.Verdict)
	}
	if text := read("junit.xml"); text != "" {
		junit = "pass"
		if strings.Contains(text, "<error") || strings.Contains(text, "<failure") {
			junit = "error"
		}
	}
	if _, text, ok := strings.Cut(read("summary.md"), "## "); ok {
		_, text, _ = strings.Cut(text, " ")
		markdown, _, _ = strings.Cut(text, " ")
	}
	return json, junit, markdown
}

func open(t *testing.T, dir string, o Options) *Folder {
	t.Helper()
	f, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// TestFolderLife follows a folder through a run, a run that is killed, and one that writes other files.
func TestFolderLife(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	f := open(t, dir, all())
	if names := entries(t, dir); len(names) > 0 {
		t.Errorf("an open folder holds %q", names)
	}
	if err := f.Running(&result.Result{}); err != nil {
		t.Fatal(err)
	}
	if json, junit, markdown := verdicts(t, dir); json+junit+markdown != "running " {
		t.Errorf("while it runs: %q %q %q", json, junit, markdown)
	}
	r := passed()
	paths, err := f.Write(r, all())
	if err != nil {
		t.Fatal(err)
	}
	if json, junit, markdown := verdicts(t, dir); json != "done pass" || junit != "pass" ||
		markdown != "pass" {
		t.Errorf("%q %q %q", json, junit, markdown)
	}
	want := []string{
		"junit.xml", "perf_analyzer.csv", "perf_analyzer_verbose.csv", "result.json",
		"stages.csv", "summary.md",
	}
	if got := entries(t, dir); !slices.Equal(got, slices.Sorted(slices.Values(r.Files))) ||
		len(paths) != len(got) || !slices.Equal(Earlier(dir).Files, r.Files) {
		t.Errorf("the folder holds %q, the result lists %q", got, r.Files)
	}
	for _, name := range want {
		if !slices.Contains(r.Files, name) {
			t.Errorf("the result does not list %s", name)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}

	own := filepath.Join(dir, "perf_analyzer_mine.csv")
	for _, name := range []string{
		own, filepath.Join(dir, ".junit.xml.42"),
		filepath.Join(dir, ".samples.csv.4294967295"), filepath.Join(dir, ".profile_export.7"),
		filepath.Join(dir, ".junit.xml.swp"),
	} {
		if err := os.WriteFile(name, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	killed := open(t, dir, Options{})
	if got := Earlier(dir); got.Verdict != result.Pass {
		t.Errorf("a folder that was only opened says %+v", got)
	}
	if err := killed.Running(&result.Result{}); err != nil {
		t.Fatal(err)
	}
	if got := entries(t, dir); !slices.Equal(got,
		[]string{".junit.xml.swp", "perf_analyzer_mine.csv", "result.json"}) {
		t.Errorf("a killed run leaves %q", got)
	}
	if err := killed.Close(); err != nil {
		t.Fatal(err)
	}

	if _, err := write(dir, interrupted(), Options{Formats: []string{"junit"}}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "result.json"))
	if err != nil || !bytes.Contains(text, []byte(`"state": "partial"`)) {
		t.Errorf("result.json was not replaced (%v)", err)
	}
	if data, err := os.ReadFile(own); err != nil || string(data) != "x" {
		t.Errorf("a file that no run wrote: %q, %v", data, err)
	}
}

// TestFolderOfOne: a folder belongs to one run at a time.
func TestFolderOfOne(t *testing.T) {
	dir := t.TempDir()
	f := open(t, dir, all())
	if _, err := Open(dir, all()); err == nil || !strings.Contains(err.Error(), "another run writes into") {
		t.Errorf("a second run: %v", err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, dir, all())
}

// TestInTheWay: nothing that no result lists is replaced, whatever it is; the message names all of it.
func TestInTheWay(t *testing.T) {
	put := func(name, text string) func(string) error {
		return func(dir string) error { return os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600) }
	}
	folder := func(name string) func(string) error {
		return func(dir string) error { return os.MkdirAll(filepath.Join(dir, name, "x"), 0o700) }
	}
	link := func(name string) func(string) error {
		return func(dir string) error { return os.Symlink("elsewhere", filepath.Join(dir, name)) }
	}
	lists := func(files string) func(string) error {
		return put("result.json", `{"schema": "sluice/result/v1"`+files+`}`)
	}
	kept := &Samples{o: SamplesOptions{Table: "csv", Export: true}}
	for _, c := range []struct {
		name  string
		there []func(string) error
		want  string // in the message; "": it is taken
	}{
		{"nothing", nil, ""},
		{"files of no run", []func(string) error{put("notes.txt", "x"), put("samples.jsonl", "x")}, ""},
		{
			"a summary",
			[]func(string) error{put("summary.md", "x")},
			"summary.md: no result of an earlier run lists it",
		},
		{
			"two files",
			[]func(string) error{put("junit.xml", "x"), put("samples.csv", "x")},
			"junit.xml: no result of an earlier run lists it\n  samples.csv: no result",
		},
		{"requests", []func(string) error{
			lists(`, "files": ["result.json"]`),
			put("profile_export.json", "x"),
		}, "profile_export.json: no result"},
		{"a table", []func(string) error{put("perf_analyzer.csv", "x")}, "perf_analyzer.csv: no result"},
		{
			"another result.json",
			[]func(string) error{put("result.json", `{"verdict": "pass"}`)},
			"result.json: it is no result of sluice",
		},
		{"half a result.json", []func(string) error{put("result.json",
			`{"schema": "sluice/result/v1", "fil`)}, "result.json: it is no result of sluice"},
		{"a folder", []func(string) error{folder("junit.xml")}, "junit.xml: it is a folder"},
		{"a folder that is listed", []func(string) error{
			lists(`, "files": ["junit.xml"]`),
			folder("junit.xml"),
		}, "junit.xml: it is a folder"},
		{"a folder result.json", []func(string) error{folder("result.json")}, "result.json: it is a folder"},
		{"a link", []func(string) error{link("stages.csv")}, "stages.csv: it is not a regular file"},
		{"a link that is listed", []func(string) error{
			lists(`, "files": ["junit.xml"]`),
			link("junit.xml"),
		}, "junit.xml: it is not a regular file"},
		{
			"a link result.json",
			[]func(string) error{link("result.json")},
			"result.json: it is not a regular file",
		},
		{
			"an earlier run",
			[]func(string) error{
				lists(`, "files": ["result.json", "junit.xml", "samples.csv"]`),
				put("junit.xml", "x"), put("samples.csv", "x"),
			},
			"",
		},
		{"one that lists less", []func(string) error{
			lists(`, "files": ["result.json", "junit.xml"]`),
			put("junit.xml", "x"), put("summary.md", "x"),
		}, "  summary.md: no result"},
		{"one without a list", []func(string) error{lists(""), put("stages.csv", "x")}, ""},
		{"one without a list, and more", []func(string) error{
			lists(""), put("stages.csv", "x"),
			put("junit.xml", "x"),
		}, "  junit.xml: no result"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			for _, put := range c.there {
				if err := put(dir); err != nil {
					t.Fatal(err)
				}
			}
			o := all()
			o.Samples, o.Formats = kept, append(o.Formats, ProfileExport)
			before := entries(t, dir)
			f, err := Open(dir, o)
			if err == nil {
				defer f.Close()
			}
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			if err != nil && strings.Count(err.Error(), "\n")-1 != strings.Count(c.want, "\n")+1 {
				t.Errorf("the message names other files: %s", err)
			}
			if diff := cmp.Diff(before, entries(t, dir)); diff != "" {
				t.Errorf("opening changed the folder:\n%s", diff)
			}
		})
	}
}

// TestForgedList: a list of files makes a run remove nothing but names that some run writes.
func TestForgedList(t *testing.T) {
	dir := t.TempDir()
	inside := filepath.Join(dir, "out")
	if err := os.Mkdir(inside, 0o700); err != nil {
		t.Fatal(err)
	}
	list := `{"schema": "sluice/result/v1", "files": ["result.json", "notes.txt", "../junit.xml", "/etc/hosts", "..", "", "sub/junit.xml", "summary.md"]}`
	for name, text := range map[string]string{
		"out/result.json": list, "out/notes.txt": "x",
		"junit.xml": "x", "out/summary.md": "x",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := open(t, inside, all()).Running(&result.Result{}); err != nil {
		t.Fatal(err)
	}
	if got := append(entries(t, inside), entries(t, dir)...); !slices.Equal(got,
		[]string{"notes.txt", "result.json", "junit.xml", "out"}) {
		t.Errorf("left: %q", got)
	}
}

// TestOneVerdict: whichever file cannot be written, the others say so, and those that can be are
// there. A folder that comes into the way while the run goes on stands for everything that keeps a
// file from being written.
func TestOneVerdict(t *testing.T) {
	for _, name := range []string{
		"junit.xml", "summary.md", "stages.csv", "perf_analyzer_verbose.csv",
		"samples.csv", "profile_export.json", "result.json",
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := NewSamples(dir, SamplesOptions{Table: "csv", Export: true})
			s.Close()
			o := all()
			o.Samples, o.Formats = s, append(o.Formats, ProfileExport)
			f := open(t, dir, o)
			if err := f.Running(&result.Result{}); err != nil {
				t.Fatal(err)
			}
			_ = os.Remove(filepath.Join(dir, name))
			if err := os.MkdirAll(filepath.Join(dir, name, "x"), 0o700); err != nil {
				t.Fatal(err)
			}
			r := passed()
			paths, err := f.Write(r, o)
			if err == nil || !strings.Contains(err.Error(), "write "+name+": it is a folder") ||
				strings.Count(err.Error(), "it is a folder") != 1 {
				t.Errorf("error: %v", err)
			}
			if r.ExitCode != 6 || slices.Contains(r.Files, name) && name != "result.json" ||
				slices.Contains(paths, filepath.Join(dir, name)) {
				t.Errorf("exit code %d, files %q, paths %q", r.ExitCode, r.Files, paths)
			}
			want := [3]string{"done error", "error", "error"}
			for i, n := range [...]string{"result.json", "junit.xml", "summary.md"} {
				if n == name {
					want[i] = ""
				}
			}
			json, junit, markdown := verdicts(t, dir)
			if got := [3]string{json, junit, markdown}; got != want {
				t.Errorf("the files say %q, want %q", got, want)
			}
			if got := entries(t, dir); len(got) != 9 ||
				slices.ContainsFunc(got, func(name string) bool { return name[0] == '.' }) {
				t.Errorf("the folder holds %q", got)
			}
		})
	}
}

// TestWriteAgain: a result whose exit code changed after it was written is written again, and what
// cannot be is removed.
func TestWriteAgain(t *testing.T) {
	dir := t.TempDir()
	f := open(t, dir, all())
	r := passed()
	if _, err := f.Write(r, all()); err != nil {
		t.Fatal(err)
	}
	all().Fail(r, errors.New("standard output cannot be written"))
	if paths, err := f.Write(r, all()); err != nil || len(paths) != 7 {
		t.Errorf("%q, %v", paths, err)
	}
	if json, junit, markdown := verdicts(t, dir); json != "done error" || junit != "error" ||
		markdown != "error" {
		t.Errorf("%q %q %q", json, junit, markdown)
	}
	if _, err := f.Write(passed(), all()); err != nil {
		t.Fatal(err)
	}
	_ = os.Remove(filepath.Join(dir, "junit.xml"))
	if err := os.Mkdir(filepath.Join(dir, "junit.xml"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(passed(), all()); err == nil {
		t.Error("no error")
	}
	if json, junit, markdown := verdicts(t, dir); json != "done error" || junit != "" ||
		markdown != "error" {
		t.Errorf("%q %q %q", json, junit, markdown)
	}
}

// TestNoResult: if result.json cannot be written, no verdict of an earlier run stays, nor a file
// that would be in the way of a later run. A folder that says "running" keeps its files.
func TestNoResult(t *testing.T) {
	for _, running := range []bool{false, true} {
		for _, earlier := range []bool{false, true} {
			dir := t.TempDir()
			if earlier {
				if _, err := write(dir, passed(), all()); err != nil {
					t.Fatal(err)
				}
			}
			f := open(t, dir, all())
			if running {
				if err := f.Running(&result.Result{}); err != nil {
					t.Fatal(err)
				}
			}
			broken := passed()
			broken.Plan.Resolved = func() {} // has no JSON form
			if !running && f.Running(broken) == nil {
				t.Error("no error")
			}
			paths, err := f.Write(broken, all())
			if err == nil || broken.ExitCode != 6 ||
				slices.Contains(paths, filepath.Join(dir, "result.json")) {
				t.Errorf("running %t: exit code %d, paths %q, %v", running, broken.ExitCode, paths, err)
			}
			json, junit, markdown := verdicts(t, dir)
			if got, want := json+" "+junit+" "+
				markdown, map[bool]string{true: "running  error error", false: "  "}[running]; got != want {
				t.Errorf("running %t, earlier %t: the files say %q, want %q", running, earlier, got, want)
			}
			if got := entries(t, dir); !running && (len(got) > 0 || len(paths) > 0) {
				t.Errorf("earlier %t: left %q, paths %q", earlier, got, paths)
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			if _, err := write(dir, passed(), all()); err != nil {
				t.Errorf("running %t, earlier %t: the next run: %v", running, earlier, err)
			}
		}
	}
}

// TestUnknownFormat: what is no format fails the run, and costs no file.
func TestUnknownFormat(t *testing.T) {
	dir := t.TempDir()
	o := all()
	o.Formats = []string{"csv", "junit", "html", ProfileExport}
	paths, err := write(dir, passed(), o)
	if err == nil || !strings.Contains(err.Error(), `unknown format "html"`) ||
		!strings.Contains(err.Error(), "were not kept") || len(paths) != 3 {
		t.Errorf("%q, %v", paths, err)
	}
	if json, junit, _ := verdicts(t, dir); json != "done error" || junit != "error" {
		t.Errorf("%q %q", json, junit)
	}
}

func TestOpenWithoutAFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(filepath.Join(path, "out"), Options{}); err == nil ||
		!strings.Contains(err.Error(), "make result folder") {
		t.Errorf("a folder below a file: %v", err)
	}
}

// TestModes: the umask says who reads a file, but for those that hold what servers and data sets said.
func TestModes(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	for _, mask := range []int{0o022, 0o077, 0o027} {
		syscall.Umask(mask)
		dir := filepath.Join(t.TempDir(), "a", "b")
		s := NewSamples(dir, SamplesOptions{Table: "jsonl", Export: true})
		o := all()
		o.Samples, o.Formats = s, append(o.Formats, ProfileExport)
		f := open(t, dir, o)
		s.Close()
		if _, err := f.Write(passed(), o); err != nil {
			t.Fatal(err)
		}
		modes := map[string]string{}
		for _, name := range append(entries(t, dir), ".", "..") {
			info, err := os.Stat(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			want := 0o666 &^ mask
			switch name {
			case ".", "..":
				want = 0o777 &^ mask
			case "samples.jsonl", "profile_export.json":
				want = 0o600
			}
			if got := int(info.Mode().Perm()); got != want {
				modes[name] = fmt.Sprintf("%o, want %o", got, want)
			}
		}
		if len(modes) > 0 {
			t.Errorf("umask %03o: %v", mask, modes)
		}
	}
}
