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
	fence   = regexp.MustCompile("(?ms)^```(\\w*)(?: file=(\\S+))?[^\n]*\n(.*?)^```$")
	demands = regexp.MustCompile(`\s+# exit ([0-9|]+)$`)
)

// TestTour runs the README as a reader would.
func TestTour(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	if commands := tour(t, t.TempDir(), string(readme)); commands < 16 {
		t.Errorf("the tour has %d commands", commands)
	}
}

// tour plays a page: ```yaml file=NAME``` blocks are files unless they are there, lines "$ sluice …" of ```console``` blocks are commands, in
// order, in one folder; each line of a ```text``` block is in what the last one printed, "…" standing for anything. A
// command must exit with 0, or as its "# exit N|M" says.
func tour(t *testing.T, dir, page string) (commands int) {
	t.Helper()
	exe, err := exec.LookPath("sluice") // testscript puts this binary on PATH under that name
	if err != nil {
		t.Fatal(err)
	}
	last := ""
	for _, block := range fence.FindAllStringSubmatch(page, -1) {
		kind, file, text := block[1], block[2], block[3]
		if _, err := os.Stat(filepath.Join(dir, file)); file != "" && err != nil {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		switch kind {
		case "text":
			for line := range strings.Lines(text) {
				if !like(line).MatchString(last) {
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
				last = tourStep(t, exe, dir, command)
			}
		}
	}
	return commands
}

// like is the expression for a line of output in which "…" stands for anything, and spaces for any number of them.
func like(line string) *regexp.Regexp {
	text := regexp.QuoteMeta(strings.Join(strings.Fields(line), " "))
	return regexp.MustCompile(strings.NewReplacer(" ", `\s+`, "…", `.*`).Replace(text))
}

// words splits a command as a shell does, with 'single' quotes.
func words(command string) (list []string) {
	for _, w := range regexp.MustCompile(`(?:[^\s']|'[^']*')+`).FindAllString(command, -1) {
		list = append(list, strings.ReplaceAll(w, "'", ""))
	}
	return list
}

func tourStep(t *testing.T, exe, dir, command string) (printed string) {
	t.Helper()
	allowed := []string{"0"}
	if m := demands.FindStringSubmatch(command); m != nil {
		allowed = strings.Split(m[1], "|")
		command = strings.TrimSuffix(command, m[0])
	}
	cmd := exec.Command(exe, words(command)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	got := strconv.Itoa(cmd.ProcessState.ExitCode())
	for _, a := range allowed {
		if a == got {
			return string(out)
		}
	}
	t.Errorf("sluice %s: exit code %s, want %s\n%s", command, got, strings.Join(allowed, " or "), out)
	return string(out)
}

// TestExitTable: the README's table of exit codes is that of the code.
func TestExitTable(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range verdict.Codes() {
		if row := fmt.Sprintf("| %d | %s | %s |\n", c.Code, c.Verdict, c.Meaning); !bytes.Contains(readme, []byte(row)) {
			t.Errorf("the README lacks %s", row)
		}
	}
	if !bytes.Contains(readme, []byte("the first of "+verdict.Precedence+" wins")) {
		t.Errorf("the README has another precedence than %s", verdict.Precedence)
	}
}

// TestCodes: every diagnostic code in the source is explained, and every explained code is in the source.
func TestCodes(t *testing.T) {
	var all strings.Builder
	for file := range sources(t) {
		if strings.HasSuffix(file, "source/codes.go") {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(data)
	}
	known := make(map[string]bool)
	for _, c := range source.Codes() {
		known[c.Name] = true
		if !strings.Contains(all.String(), `"`+c.Name+`"`) && !strings.HasPrefix(c.Name, "bad-") { // "bad-" + type in schema
			t.Errorf("code %q is explained and never used", c.Name)
		}
		if c.Help == "" {
			t.Errorf("code %q has no help", c.Name)
		}
	}
	used := regexp.MustCompile(`(?:\bCode: +|\bcode[A-Z]\w* +(?:string )?= |\.fail\([^"\n]*, )"([a-z]+(?:-[a-z]+)*)"`)
	for _, m := range used.FindAllStringSubmatch(all.String(), -1) {
		if !known[m[1]] {
			t.Errorf("diagnostic code %q is not explained in source.Codes", m[1])
		}
	}
}
