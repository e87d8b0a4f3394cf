//go:build !race

// The race detector takes five times the memory and slows many clients at once beyond their timeouts.

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"go.uber.org/goleak"

	"github.com/sluice-bench/sluice/backends/backendtest"
	"github.com/sluice-bench/sluice/backends/backendtest/cases"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/executor/verdict"
	"github.com/sluice-bench/sluice/schema"
)

// serverFault is a line of testdata/faults/*.txtar, which README.md there describes.
type serverFault struct {
	name, at string
	script   string // of the server
	plan     string
	set      []string // PATH=VALUE, over the plan
	code     int
	ends     []faultEnd
	finding  string // code of one that must be there
	memory   int64  // bytes that the process may have in use at most; 0: it is not a process of its own
}

// faultEnd is a class in which requests must end, or the reason of a run that could not be set up.
// An optional one may be missing, where it depends on the moment.
type faultEnd struct {
	class, text string
	optional    bool
}

const (
	faultBound     = 30 * time.Second // for a whole run, whatever its server does
	faultParallel  = 24               // runs at a time; most wait for a timeout
	memoryParallel = 2                // of those that are processes of their own, which are busy all the time
)

// TestServerFaults: whatever a server sends, and wherever it stops, a run ends in time and in
// bounded memory, its requests in the right class, with all of its files and the exit code that
// says so.
func TestServerFaults(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "faults", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatal("no faults", err)
	}
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	var waiting, busy []*serverFault
	for _, file := range files {
		for _, f := range readFaults(t, file) {
			if f.memory > 0 {
				busy = append(busy, f)
			} else {
				waiting = append(waiting, f)
			}
		}
	}
	testFaults(t, waiting, faultParallel)
	testFaults(t, busy, memoryParallel)
}

// testFaults tests faults, n at a time.
func testFaults(t *testing.T, faults []*serverFault, n int) {
	t.Helper()
	var running sync.WaitGroup
	defer running.Wait()
	free := make(chan struct{}, n)
	for _, f := range faults {
		free <- struct{}{}
		running.Go(func() {
			defer func() { <-free }()
			t.Run(f.name, f.test)
		})
	}
}

// readFaults reads a file of faults: all, or of each section the first of every six,
// and of those that fill the memory the first of every twelve.
func readFaults(t *testing.T, file string) (list []*serverFault) {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	parts := map[string]string{}
	for _, f := range archive.Files {
		parts[f.Name] = string(f.Data)
	}
	kind := strings.TrimSuffix(filepath.Base(file), ".txtar")
	first := 1 + bytes.Count(txtar.Format(archive)[:bytes.Index(txtar.Format(archive),
		[]byte("-- faults --"))], []byte("\n"))
	title, prelude, set, inSection := "", "", []string(nil), 0
	for i, line := range strings.Split(parts["faults"], "\n") {
		at := fmt.Sprintf("%s:%d", file, first+1+i)
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "== "):
			title, prelude, set, inSection = strings.TrimPrefix(line, "== "), "", nil, 0
		case strings.HasPrefix(line, "= "):
			prelude += strings.TrimPrefix(line, "= ") + "\n"
		case strings.HasPrefix(line, "> "):
			set = append(set, strings.TrimPrefix(line, "> "))
		default:
			f, err := readFault(line)
			if err != nil {
				t.Fatalf("%s: %v", at, err)
			}
			f.at, f.name = at, kind+"/"+title+"/"+f.name
			f.plan, f.set = parts["plan"], set
			f.script = assemble(parts["server"], prelude, f.script)
			every := 6
			if f.memory > 0 {
				every = 12
			}
			if cases.Runs(inSection, every) {
				list = append(list, f)
			}
			inSection++
		}
	}
	return list
}

// assemble makes a server of the script of a file, the lines of a section and the commands of a
// fault. Where the section has connections of its own, the handlers of the file come after the
// fault's commands.
func assemble(server, section, fault string) string {
	if !strings.HasPrefix(section, "accept") {
		return server + section + fault
	}
	var defined, handlers string
	for line := range strings.Lines(server) {
		switch word, _, _ := strings.Cut(line, " "); word {
		case "define":
			defined += line
		case "on":
			handlers += line
		}
	}
	return defined + section + fault + "\n" + handlers
}

// readFault reads a line: NAME | COMMANDS | EXIT | OUTCOME.
func readFault(line string) (*serverFault, error) {
	columns := strings.Split(line+" ", " | ")
	if len(columns) != 4 {
		return nil, fmt.Errorf("%d columns where 4 should be: %s", len(columns), line)
	}
	f := &serverFault{name: strings.TrimSpace(columns[0]), script: strings.TrimSpace(columns[1])}
	var err error
	if f.code, err = strconv.Atoi(strings.TrimSpace(columns[2])); err != nil {
		return nil, err
	}
	for rest := strings.TrimSpace(columns[3]); rest != ""; {
		var word, text string
		word, rest = cutWord(rest)
		if strings.HasPrefix(rest, `"`) {
			if text, rest, err = cutString(rest); err != nil {
				return nil, err
			}
		}
		key, value, keyed := strings.Cut(word, ":")
		switch {
		case !keyed:
			class, optional := strings.CutSuffix(word, "?")
			f.ends = append(f.ends, faultEnd{class, text, optional})
		case key == "finding":
			f.finding = value
		case key == "memory":
			mib, err := strconv.ParseInt(strings.TrimSuffix(value, "MiB"), 10, 32)
			if err != nil {
				return nil, err
			}
			f.memory = mib << 20
		default:
			return nil, fmt.Errorf("%q is no outcome", word)
		}
	}
	return f, nil
}

func cutWord(s string) (word, rest string) {
	if end := strings.IndexAny(s, ` "`); end >= 0 {
		return s[:end], strings.TrimLeft(s[end:], " ")
	}
	return s, ""
}

func cutString(s string) (text, rest string, err error) {
	q, err := strconv.QuotedPrefix(s)
	if err != nil {
		return "", "", fmt.Errorf("%s: %w", s, err)
	}
	text, err = strconv.Unquote(q)
	return text, strings.TrimLeft(s[len(q):], ", "), err
}

// test plays the fault from the plan to the files.
func (f *serverFault) test(t *testing.T) {
	raw := backendtest.StartRaw(t, backendtest.RawOptions{TLS: strings.Contains(f.plan, "CA_FILE")},
		nil, f.script)
	dir := t.TempDir()
	plan, out := filepath.Join(dir, "plan.yaml"), filepath.Join(dir, "out")
	where := strings.NewReplacer("ADDRESS", raw.Address, "CA_FILE", raw.CA)
	if err := os.WriteFile(plan, []byte(where.Replace(f.plan)), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"run", plan, "--out", out}
	for _, s := range f.set {
		args = append(args, "--set", where.Replace(s))
	}
	var printed bytes.Buffer
	ended, began := make(chan int, 1), time.Now()
	go func() {
		if f.memory > 0 {
			ended <- f.process(t, args, &printed)
			return
		}
		a := system()
		a.in, a.out, a.err = strings.NewReader(""), &errorWriter{w: &printed}, &printed
		a.terminal, a.width, a.sharesProcess = false, 0, true
		ended <- Main(args, a)
	}()
	select {
	case code := <-ended:
		t.Logf("%v, %s\n%s", time.Since(began), f.at, printed.String())
		// On a machine that is too busy a run that fails can say, besides, that its client was held
		// up: then it proves nothing.
		if heldUp := code == verdict.CodeInvalid && f.code == verdict.CodeFail; code != f.code && !heldUp {
			t.Errorf("exit code %d, want %d", code, f.code)
		}
		f.check(t, out, code)
	case <-time.After(faultBound):
		t.Errorf("the run did not end within %v", faultBound)
		raw.Down()
		<-ended
	}
}

// peak returns the largest memory use of a process.
var peak = regexp.MustCompile(`VmHWM:\s*(\d+) kB`)

// process runs the program as one of its own, and looks at its memory until it ends.
func (f *serverFault) process(t *testing.T, args []string, printed *bytes.Buffer) (code int) {
	exe, err := exec.LookPath("sluice")
	if err != nil {
		t.Error(err)
		return -1
	}
	cmd := exec.Command(exe, args...)
	cmd.Stdout, cmd.Stderr = printed, printed
	if err := cmd.Start(); err != nil {
		t.Error(err)
		return -1
	}
	var most int64
	looking, over := sync.WaitGroup{}, make(chan struct{})
	looking.Go(func() {
		for tick := time.NewTicker(2 * time.Millisecond); ; {
			status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
			if m := peak.FindSubmatch(status); m != nil {
				kib, _ := strconv.ParseInt(string(m[1]), 10, 64)
				most = kib << 10
			}
			select {
			case <-over:
				return
			case <-tick.C:
			}
		}
	})
	if err := cmd.Wait(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Error(err)
	}
	close(over)
	looking.Wait()
	t.Logf("%d MiB", most>>20)
	if most > f.memory {
		t.Errorf("%d MiB of memory in use, want at most %d", most>>20, f.memory>>20)
	}
	return cmd.ProcessState.ExitCode()
}

// check holds the files of a run against what the fault must come to, and against each other.
func (f *serverFault) check(t *testing.T, out string, code int) {
	t.Helper()
	files := readFiles(t, out)
	if err := schema.ValidateResult(files["result.json"]); err != nil {
		t.Error(err)
	}
	r, err := result.Read(bytes.NewReader(files["result.json"]))
	if err != nil {
		t.Fatal(err)
	}
	if r.ExitCode != code || r.State != result.StateDone || (r.Verdict == result.Pass) != (code == 0) {
		t.Errorf("result.json: exit code %d, verdict %s, state %s", r.ExitCode, r.Verdict, r.State)
	}
	n := r.Nodes[0]
	got := map[string]string{}
	for _, e := range n.Errors {
		got[e.Class] = e.Example
		if e.Example == "" {
			t.Errorf("class %s has no example", e.Class)
		}
	}
	if n.Outcome == result.Failed || n.Outcome == result.SkippedNode {
		got["set-up"] = r.Reason
	}
	for _, o := range f.ends {
		text, there := got[o.class]
		if !there && !o.optional || !strings.Contains(text, o.text) {
			t.Errorf("%s %q is not in %q", o.class, o.text, got)
		}
	}
	for class := range got {
		if !slices.ContainsFunc(f.ends, func(o faultEnd) bool { return o.class == class }) {
			t.Errorf("%s is in %q", class, got)
		}
	}
	if f.finding != "" && !slices.ContainsFunc(n.Validity.Findings,
		func(x result.Finding) bool { return x.Code == f.finding }) {
		t.Errorf("no finding %s in %+v", f.finding, n.Validity.Findings)
	}
	if strings.Contains(string(files["summary.md"]), "✅") != (code == 0) ||
		strings.Contains(string(files["junit.xml"]), "<failure") != (code == 1) {
		t.Errorf("summary.md or junit.xml say something else than exit code %d:\n%s\n%s", code,
			files["summary.md"], files["junit.xml"])
	}
	measured, answered := 0, 0
	if m := n.Metrics["latency"]; m != nil && m.Count != nil {
		answered = int(*m.Count)
		measured = min(answered, 1) // a node without an answer has no row there
		checkSamples(t, files["samples.csv"], n)
	}
	checkFiles(t, files, measured, answered)
}
