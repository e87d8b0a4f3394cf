package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-bench/sluice/executor/result"
)

// outline is what a run comes to, without what differs from machine to machine: the exit code, and
// for each node its outcome, the parts that have numbers of their own, its repeats, whether it has
// trials, and the verdicts.
//
//	row = "exit" CODE | NODE ":" OUTCOME | "  " ( "phase" NAME | "mix" NAME | "repeats" N | "trials" | ID VERDICT )
type outline []outlineRow

type outlineRow struct{ node, text string }

func (o outline) String() string {
	var b strings.Builder
	for _, r := range o {
		b.WriteString(r.text + "\n")
	}
	return b.String()
}

const ofPlan = "plan" // the node of rows that have none

func outlineOf(r *result.Result) (o outline) {
	add := func(node, format string, args ...any) {
		o = append(o, outlineRow{node, fmt.Sprintf(format, args...)})
	}
	add(ofPlan, "exit %d", r.ExitCode)
	for _, n := range r.Nodes {
		add(n.ID, "%s: %s", n.ID, n.Outcome)
		for _, s := range n.Scopes {
			switch {
			case s.Phase != "" && s.Mix == "":
				add(n.ID, "  phase %s", s.Phase)
			case s.Mix != "" && s.Phase == "":
				add(n.ID, "  mix %s", s.Mix)
			}
		}
		if len(n.Repeats) > 0 {
			add(n.ID, "  repeats %d", len(n.Repeats))
		}
		if len(n.Trials) > 0 {
			add(n.ID, "  trials")
		}
		for _, a := range n.Assertions {
			add(n.ID, "  %s %s", a.ID, a.Verdict)
		}
	}
	if len(r.Assertions) > 0 {
		add(ofPlan, "%s:", ofPlan)
	}
	for _, a := range r.Assertions {
		add(ofPlan, "  %s %s", a.ID, a.Verdict)
	}
	return o
}

// readOutline is the reverse of String.
func readOutline(text string) (o outline) {
	node := ofPlan
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if head, _, is := strings.Cut(line, ":"); is && !strings.HasPrefix(line, " ") {
			node = head
		}
		o = append(o, outlineRow{node, line})
	}
	return o
}

// proven is what remains when a machine that is too busy made a measurement invalid or left an assertion open: nodes
// up to the first of those, for what comes after may follow from it.
func (o outline) proven(r *result.Result) outline {
	open := func(a result.Assertion) bool { return a.Cause == result.CauseClient }
	i := slices.IndexFunc(r.Nodes, func(n *result.Node) bool {
		return !n.Validity.OK || slices.ContainsFunc(n.Assertions, open) || slices.ContainsFunc(n.Trials,
			func(t result.Trial) bool { return t.Outcome == result.Invalid })
	})
	if i < 0 {
		return o
	}
	return slices.DeleteFunc(slices.Clone(o), func(row outlineRow) bool {
		return !slices.ContainsFunc(r.Nodes[:i], func(n *result.Node) bool { return n.ID == row.node })
	})
}

// comesTo runs a plan and compares its outline with the file of that name; UPDATE_OUTLINE=1 writes
// it. A run with a measurement that is invalid, for this machine was too busy, must end with 5. It
// is tried once more, and then compared as far as it is proven.
func comesTo(t *testing.T, name, file string, args ...string) {
	t.Helper()
	r, printed := outcome(t, file, args...)
	got := outlineOf(r)
	whole := func() bool { return len(got.proven(r)) == len(got) }
	if !whole() {
		wrong := func(n *result.Node) bool { return !n.Validity.OK }
		if slices.ContainsFunc(r.Nodes, wrong) && r.ExitCode != 5 {
			t.Errorf("exit code %d after a measurement that is invalid\n%s", r.ExitCode, printed)
		}
		r, printed = outcome(t, file, args...)
		got = outlineOf(r)
	}
	golden := filepath.Join("testdata", "outline", name+".txt")
	if os.Getenv("UPDATE_OUTLINE") != "" && whole() {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	want := readOutline(string(text))
	if diff := cmp.Diff(want.proven(r).String(), got.proven(r).String()); diff != "" {
		t.Errorf("(-want +got)\n%s\n%s", diff, printed)
	}
	for _, n := range r.Nodes {
		if !slices.ContainsFunc(want, func(row outlineRow) bool { return row.node == n.ID }) {
			t.Errorf("an unexpected node %s\n%s", n.ID, printed)
		}
	}
}

// outcome runs a plan and reads its result.
func outcome(t *testing.T, file string, args ...string) (r *result.Result, printed string) {
	t.Helper()
	exe, err := exec.LookPath("sluice") // testscript puts this binary on PATH under that name
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "out")
	out, err := exec.Command(exe, append([]string{"run", file, "--out", dir}, args...)...).CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	written, err := os.Open(filepath.Join(dir, "result.json"))
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	defer written.Close()
	if r, err = result.Read(written); err != nil {
		t.Fatal(err)
	}
	return r, string(out)
}
