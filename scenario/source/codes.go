package source

import (
	_ "embed"
	"strings"
)

// Code is a diagnostic code and what it means: what `explain` says about it. The codes are stable:
// tests and editors may rely on them.
type Code struct{ Name, Help string }

//go:embed codes.txt
var codes string

// Codes lists the codes of every diagnostic there is, over all packages, in the order of their names; a
// test finds each in the code.
func Codes() []Code {
	var all []Code
	for line := range strings.Lines(codes) {
		name, help, _ := strings.Cut(strings.TrimSpace(line), ": ")
		all = append(all, Code{name, help})
	}
	return all
}
