// Package convert turns the command lines of older load generators into plans: text with comments,
// to be read and kept by a person, in which every option is a key, or is named where a plan has no
// equal.
//
//	Split      a command line of a document  →  arguments, as a POSIX shell cuts it
//	arguments  →  options         as getopt_long: unique prefixes, --name=value, joined short options
//	options    →  command         typed, by subject; every mistake with its argument
//	command    →  rules           conflicts of options
//	command    →  plan            the text
//
// It is not: a runner, a reader of servers, a second decoder of plans (the caller validates the
// text).
package convert

import (
	"os"
	"slices"

	"github.com/sluice-bench/sluice/scenario/regular"
	"github.com/sluice-bench/sluice/scenario/source"
)

// Options holds a command line and the place of its plan.
type Options struct {
	Args []string // with or without the program's name in front
	// Dir is the folder of the plan, to which paths in the plan are relative. Paths of the command
	// line are relative to the working folder. "": the same folder.
	Dir string
	// Model is the server's description of the model; nil: the server was not asked.
	Model *Model
	// Stat and Read look at the files that the command line names; nil: os.Stat, and regular.Read up to
	// maxRead bytes.
	Stat func(string) (os.FileInfo, error)
	Read func(string) ([]byte, error)
}

// maxRead limits the files that are read, in bytes; larger ones are left to the reader of the plan.
const maxRead = 1 << 30

// Model holds what perf_analyzer asks the server before it sends anything, where the plan depends
// on it.
type Model struct {
	Sequences bool // it keeps state between the requests of a sequence, or a model that it calls does
	Alone     bool // it declares that it keeps none
	Inputs    []Input
}

// Input is one input of a model.
type Input struct {
	Name string
	Text bool // its datatype is BYTES
}

// Converted holds the plan of a command line.
type Converted struct {
	Plan   string // the plan's text; "" with mistakes in the command line, or for --help and --version
	Line   string // the command line in one line: diagnostics point into it, as the file LineFile
	CSV    string // where the table was to be written (-f); "": nowhere
	Wide   bool   // with the further columns (--verbose-csv)
	Export string // where the requests were to be written (--profile-export-file)
	// Usage and Version report that the command line asks for nothing else.
	Usage, Version bool
}

// LineFile is the file name of positions in a command line.
const LineFile = "command line"

// PerfAnalyzer converts a command line of perf_analyzer. With an error among the diagnostics there
// is no plan. Warnings name what the plan cannot express.
func PerfAnalyzer(o Options) (Converted, source.Diagnostics) {
	if o.Stat == nil {
		o.Stat = os.Stat
	}
	if o.Read == nil {
		o.Read = func(name string) ([]byte, error) { return regular.Read(name, maxRead) }
	}
	c := newCommand(o)
	list := c.parse()
	// -i without a value, --input-dta
	c.doubtful = slices.ContainsFunc(c.diags, func(d source.Diagnostic) bool {
		return d.Severity == source.Error && (d.Code == codeValue || asked(d.Nearest))
	})
	for _, g := range list {
		c.take(g)
	}
	if c.out.Usage || c.out.Version {
		return Converted{Line: c.text, Usage: c.out.Usage, Version: c.out.Version}, nil
	}
	if !c.doubtful {
		c.rules()
	}
	if c.diags.HasErrors() {
		return Converted{Line: c.text}, c.diags.Sorted()
	}
	c.out.Line, c.out.Plan = c.text, c.plan()
	return c.out, c.diags.Sorted()
}
