package main

import (
	"encoding/pem"
	"errors"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// guide is plans/README.md, plansDir the folder that it stands in.
var (
	plansDir = filepath.Join("..", "..", "plans")
	guide    = filepath.Join(plansDir, "README.md")
)

// example is a ```yaml block of the guide. The words after "yaml" say what it is:
//
//	part        without the head; the test puts one before it
//	run         it is run and exits with 0, or as run=N|M says
type example struct {
	name string // for messages: the number of the block and its first stage
	text string
	run  []string // exit codes that are right; nil: it is only validated
}

var (
	block = regexp.MustCompile("(?ms)^```yaml([^\n]*)\n(.*?)^```$")
	// head is what parts leave out. What a part has itself is left out of it.
	head = []struct{ key, text string }{
		{"version", "version: 1\n"},
		{"target", "target: {backend: kserve, url: \"builtin://http\", model: slow}\n"},
	}
)

// examples reads the guide.
func examples(t *testing.T) []example {
	t.Helper()
	data, err := os.ReadFile(guide)
	if err != nil {
		t.Fatal(err)
	}
	id := regexp.MustCompile(`id: ([a-z]+)`)
	var list []example
	for i, m := range block.FindAllStringSubmatch(string(data), -1) {
		e := example{name: strconv.Itoa(i + 1), text: m[2]}
		if first := id.FindStringSubmatch(e.text); first != nil {
			e.name += "-" + first[1]
		}
		for _, word := range strings.Fields(m[1]) {
			codes, run := strings.CutPrefix(word, "run")
			switch {
			case word == "part":
				e.text = whole(e.text)
			case run && codes == "":
				e.run = []string{"0"}
			case run && codes[0] == '=':
				e.run = strings.Split(codes[1:], "|")
			default:
				t.Errorf("example %s: %q is not a word of this test", e.name, word)
			}
		}
		list = append(list, e)
	}
	return list
}

// whole puts the head before a part.
func whole(part string) string {
	var before strings.Builder
	for _, h := range head {
		if !regexp.MustCompile(`(?m)^` + h.key + `s?:`).MatchString(part) {
			before.WriteString(h.text)
		}
	}
	return before.String() + part
}

// write puts an example into a folder with all that examples name.
func (e example) write(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "data"), os.DirFS(filepath.Join(plansDir, "data"))); err != nil {
		t.Fatal(err)
	}
	s := httptest.NewTLSServer(nil)
	defer s.Close()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := os.WriteFile(filepath.Join(dir, "ca.pem"), ca, 0o600); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "plan.yaml")
	if err := os.WriteFile(file, []byte(e.text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// compiles demands a plan without any diagnostic, not even a warning.
func compiles(t *testing.T, file string) {
	t.Helper()
	a := &app{env: func(string) (string, bool) { return "", false }}
	program, diags := a.load(file, overrides{})
	for _, d := range diags {
		t.Errorf("%s: %s %s", d.Pos, d.Summary, d.Detail)
	}
	if program == nil {
		t.FailNow()
	}
}

// plays runs a plan and demands one of the exit codes. With an open loop 5 is right as well: a machine that is too busy
// to send in time says so.
func plays(t *testing.T, file string, codes []string) {
	t.Helper()
	exe, err := exec.LookPath("sluice") // testscript puts this binary on PATH under that name
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "rate:") {
		codes = append(slices.Clone(codes), "5")
	}
	out, err := exec.Command(exe, "run", file, "--out", filepath.Join(t.TempDir(), "out")).CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	code := 0
	if exit != nil {
		code = exit.ExitCode()
	}
	if got := strconv.Itoa(code); !slices.Contains(codes, got) {
		t.Errorf("exit code %s, want %s\n%s", got, strings.Join(codes, " or "), out)
	}
}

// TestGuide: every example of the guide is a plan without a mistake, and those that say so are run.
func TestGuide(t *testing.T) {
	runs, list := 0, examples(t)
	for _, e := range list {
		if e.run != nil {
			runs++
		}
		t.Run(e.name, func(t *testing.T) {
			file := e.write(t)
			compiles(t, file)
			if e.run != nil {
				plays(t, file, e.run)
			}
		})
	}
	if len(list) < 12 || runs < 8 {
		t.Errorf("the guide has %d examples, %d of them run", len(list), runs)
	}
}

// TestPlans: every plan in plans has no mistake and stands in the guide. Those that take seconds only are run here; the
// others are run by .ci/run.
func TestPlans(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(plansDir, "*.yaml"))
	if err != nil || len(files) < 7 {
		t.Fatalf("%d plans in %s: %v", len(files), plansDir, err)
	}
	text, err := os.ReadFile(guide)
	if err != nil {
		t.Fatal(err)
	}
	short := []string{"ladder.yaml", "simple.yaml"}
	for _, file := range files {
		name := filepath.Base(file)
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(string(text), "]("+name+")") {
				t.Errorf("the guide does not link %s", name)
			}
			compiles(t, file)
			if slices.Contains(short, name) {
				plays(t, file, []string{"0"})
			}
		})
	}
}
