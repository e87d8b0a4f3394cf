package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// busy lists the runs that may end with exit code 5 besides the code that their page or script
// demands: by file, how the command begins. Each of them is about an open loop over sockets, and a
// machine that is too busy to send in time makes its measurement invalid, which is then the right
// answer. Every other command of a page or script has one exit code.
var busy = map[string][]string{
	"README.md": {
		"run plan.yaml --out out", // 50 requests a second
		"run plan.yaml --var limit=1ms",
	},
	"plans/README.md": {
		"run tutorial.yaml --out", // 50 requests a second
		"run tutorial.yaml --var limit=1ms",
		"run tutorial.yaml --profile ci",
		"run llm.yaml --out results/llm", // a limit of half a second
	},
	// the first plan that a reader runs
	"testdata/script/quickstart.txtar": {"run $ROOT/plans/quickstart.yaml"},
	"testdata/script/profiles.txtar": {
		"run plan.yaml --profile ci", // 200 requests a second
		"run plan.yaml --set",        // the same for 40 requests
	},
}

// mayBeInvalid reports whether a command of a page or script is one of busy.
func mayBeInvalid(page, command string) bool {
	for _, begin := range busy[page] {
		if strings.HasPrefix(command, begin) {
			return true
		}
	}
	return false
}

// TestBusy: each entry of busy is a command of its file.
func TestBusy(t *testing.T) {
	for page, commands := range busy {
		file := page
		if strings.HasSuffix(page, ".md") {
			file = filepath.Join("..", "..", page)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, command := range commands {
			if !strings.Contains(string(text), "sluice "+command) {
				t.Errorf("%s has no command that begins with sluice %s", page, command)
			}
		}
	}
}
