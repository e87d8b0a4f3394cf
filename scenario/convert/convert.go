// Package convert turns the command lines of older load generators into plans: text with comments, to be read and kept by
// a person, in which every option stands as a key, or is named where a plan has no equal.
//
//	Split      a command line as it stands in a document  →  arguments, as a POSIX shell cuts it
//	arguments  →  options         getopt_long's ways: unique prefixes, --name=value, joined short options
//	options    →  settings        typed; every mistake with its argument
//	settings   →  rules           what does not go together
//	settings   →  plan            the text
//
// It is not: a runner, a reader of servers, a second decoder of plans (whoever gets the text validates it).
package convert

import (
	"os"
	"slices"

	"github.com/sluice-bench/sluice/scenario/regular"
	"github.com/sluice-bench/sluice/scenario/source"
)

// Options are a command line and what is known about where its plan will be.
type Options struct {
	Args []string // with or without the program's name in front
	// Dir is the folder of the plan, to which paths in the plan are relative; those of the command line are relative to the
	// working folder. "": the same.
	Dir string
	// Model is what the server says of the model; nil: nobody has asked it.
	Model *Model
	// Stat and Read look at the files that the command line names; nil: os.Stat, and regular.Read up to
	// maxRead bytes.
	Stat func(string) (os.FileInfo, error)
	Read func(string) ([]byte, error)
}

// maxRead is how large a file may be that is looked into; larger ones are left to who reads the plan.
const maxRead = 1 << 30

// Model is what perf_analyzer learns from the server before it sends anything, as far as it decides about the plan.
type Model struct {
	Sequences bool // it keeps state between the requests of a sequence, or a model that it calls does
	Alone     bool // it says that it keeps none
	Inputs    []Input
}

// Input is one of a model's.
type Input struct {
	Name string
	Text bool // its datatype is BYTES
}

// Converted is what a command line has become.
type Converted struct {
	Plan   string // the plan's text; "" with mistakes in the command line, or where none was asked for
	Line   string // the command line in one line: what diagnostics point into, in the file LineFile
	CSV    string // where the table was to be written (-f); "": nowhere
	Wide   bool   // with the further columns (--verbose-csv)
	Export string // where the requests were to be written (--profile-export-file)
	// Usage and Version: the command line asks for nothing else.
	Usage, Version bool
}

// LineFile is the file that positions in a command line name.
const LineFile = "command line"

// PerfAnalyzer converts a command line of perf_analyzer. With an error among the diagnostics there is no plan. Warnings
// name what the plan cannot say.
func PerfAnalyzer(o Options) (Converted, source.Diagnostics) {
	if o.Stat == nil {
		o.Stat = os.Stat
	}
	if o.Read == nil {
		o.Read = func(name string) ([]byte, error) { return regular.Read(name, maxRead) }
	}
	l := newLine(dropProgram(o.Args))
	out := Converted{Line: l.text}
	s := newSettings(l, o)
	list := l.parse()
	s.doubtful = slices.ContainsFunc(l.diags, func(d source.Diagnostic) bool { // -i without a value, --input-dta
		return d.Severity == source.Error && (d.Code == codeValue || asked(d.Nearest))
	})
	for _, g := range list {
		s.take(g)
		s.variable(g)
	}
	out.Usage, out.Version = s.usage, s.version
	if s.usage || s.version {
		return out, nil
	}
	if !s.doubtful {
		s.rules()
	}
	if !l.diags.HasErrors() {
		out.Plan = s.plan()
		out.CSV, out.Wide, out.Export = s.csv, s.verboseCSV, s.export
	}
	return out, l.diags.Sorted()
}
