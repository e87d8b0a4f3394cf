package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/executor/verdict"
	"github.com/sluice-bench/sluice/scenario/source"
)

var (
	fence = regexp.MustCompile("(?ms)^```(\\w*)(?: file=(\\S+))?([^\n]*)\n(.*?)^```$")
	// figure is a number with its unit in text that is quoted for a regular expression.
	figure  = regexp.MustCompile(`\b\d(?:[\d,]|\\\.\d)*(?: (?:ns|µs|ms|s)\b)?(?:/s)?`)
	demands = regexp.MustCompile(`\s+# exit ([0-9]+)$`)
)

// TestTour runs the README as a reader would.
func TestTour(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	if commands := tour(t, t.TempDir(), "README.md", string(readme)); commands < 6 {
		t.Errorf("the tour has %d commands", commands)
	}
}

// tour plays a page: ```yaml file=NAME``` blocks are files unless they are there, lines "$ sluice
// …" of ```console``` blocks are commands, in order, in one folder. A command must exit with 0, or
// as its "# exit N" says. Each line of a ```text``` block is in what the last command printed, "…"
// standing for anything; of ```text figures``` numbers and their units may differ. A block is not
// compared if this machine was too busy for the run above it.
func tour(t *testing.T, dir, name, page string) (commands int) {
	t.Helper()
	exe, err := exec.LookPath("sluice") // testscript puts this binary on PATH under that name
	if err != nil {
		t.Fatal(err)
	}
	last, invalid := "", false
	for _, block := range fence.FindAllStringSubmatch(page, -1) {
		kind, file, mark, text := block[1], block[2], strings.TrimSpace(block[3]), block[4]
		if _, err := os.Stat(filepath.Join(dir, file)); file != "" && err != nil {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		switch kind {
		case "text":
			for line := range strings.Lines(text) {
				if !invalid && !like(line, mark == "figures").MatchString(last) {
					t.Errorf("the page shows\n%s\nand the command printed\n%s", line, last)
				}
			}
		case "console":
			for line := range strings.Lines(text) {
				command, ok := strings.CutPrefix(strings.TrimSpace(line), "$ sluice ")
				if !ok {
					t.Errorf("a console block holds commands only: %q", line)
					continue
				}
				commands++
				last, invalid = tourStep(t, exe, dir, name, command)
			}
		}
	}
	return commands
}

// like returns the expression for a line of output in which "…" stands for anything, and spaces for
// any number of them; with figures any number and unit stands for any other.
func like(line string, figures bool) *regexp.Regexp {
	text := regexp.QuoteMeta(strings.Join(strings.Fields(line), " "))
	if figures {
		text = figure.ReplaceAllLiteralString(text, `\d[\d.,]*(?: (?:ns|µs|ms|s))?(?:/s)?`)
	}
	return regexp.MustCompile(strings.NewReplacer(" ", `\s+`, "…", `.*`).Replace(text))
}

// words splits a command as a shell does, with 'single' quotes.
func words(command string) (list []string) {
	for _, w := range regexp.MustCompile(`(?:[^\s']|'[^']*')+`).FindAllString(command, -1) {
		list = append(list, strings.ReplaceAll(w, "'", ""))
	}
	return list
}

func tourStep(t *testing.T, exe, dir, page, command string) (printed string, invalid bool) {
	t.Helper()
	want := "0"
	if m := demands.FindStringSubmatch(command); m != nil {
		want = m[1]
	}
	command, _, _ = strings.Cut(command, "  #")
	cmd := exec.Command(exe, words(command)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	got := strconv.Itoa(cmd.ProcessState.ExitCode())
	invalid = got == "5" && mayBeInvalid(page, command)
	if got != want && !invalid {
		t.Errorf("sluice %s: exit code %s, want %s\n%s", command, got, want, out)
	}
	return string(out), invalid
}

// TestExitTable: the README's table of exit codes is that of the code.
func TestExitTable(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range verdict.Codes() {
		if row := fmt.Sprintf("| %d | %s | %s |\n", c.Code, c.Verdict,
			c.Meaning); !bytes.Contains(readme, []byte(row)) {
			t.Errorf("the README lacks %s", row)
		}
	}
	if !bytes.Contains(readme, []byte("the first of "+verdict.Precedence+" wins")) {
		t.Errorf("the README has another precedence than %s", verdict.Precedence)
	}
}

// TestCodes: every diagnostic code in the source is explained, and every explained code is in the
// source.
func TestCodes(t *testing.T) {
	var all strings.Builder
	for file := range sources(t) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(data)
	}
	known := make(map[string]bool)
	for _, c := range source.Codes() {
		known[c.Name] = true
		// "bad-" + type in schema
		if !strings.Contains(all.String(), `"`+c.Name+`"`) && !strings.HasPrefix(c.Name, "bad-") {
			t.Errorf("code %q is explained and never used", c.Name)
		}
		if c.Help == "" {
			t.Errorf("code %q has no help", c.Name)
		}
	}
	used := regexp.MustCompile(`(?:\bCode: +|\b[Cc]ode[A-Z]\w* +(?:string )?= |\b(?:fail|d\.warn|warnOnce)\((?:[^"(\n]|\([^)\n]*\))*, ` +
		`)"([a-z]+(?:-[a-z]+)*)"`)
	for _, m := range used.FindAllStringSubmatch(all.String(), -1) {
		if !known[m[1]] {
			t.Errorf("diagnostic code %q is not explained in source.Codes", m[1])
		}
	}
}
