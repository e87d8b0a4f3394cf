// Package convert turns the command lines of other load generators into plans: text with comments,
// to be read and kept by a person, in which every option is a key, or is named where a plan has no
// equal.
//
//	shell      a command line of a document  →  arguments, as a POSIX shell cuts it
//	settings   a YAML file of a tool         →  arguments, as if they were written out
//	secret     arguments                     →  arguments with marks in place of secrets
//	arguments  →  options         as getopt_long and argparse: unique prefixes, --name=value, joined letters
//	options    →  command, llm    typed, by subject; every mistake with its argument
//	command    →  rules           conflicts of options, and what the tool does without one
//	command    →  plan            the text, on a page of plantext
//
// A tool is a table of options: each with its names, the plan's equal and the function that takes its
// value. perf_analyzer fills a command; genai-perf, aiperf and vllm bench serve fill an llm.
//
// Configurations of Model Analyzer are converted by the package modelanalyzer.
//
// It is not: a runner, a reader of servers, a second decoder of plans (the caller validates the
// text).
package convert

import (
	"github.com/sluice-bench/sluice/scenario/convert/secret"
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
}

// readFile reads a data file of up to 1 GiB; larger ones are left to the reader of the plan.
func readFile(name string) ([]byte, error) { return regular.Read(name, 1<<30) }

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
	// Folder holds the files of a tool for language models, whose names are those of Files; Formats are
	// the formats of output that they need.
	Folder  string
	Formats []string
	Files   []File
	// Append adds to files of earlier runs. Dated puts the time of the run before the ending of names.
	Append, Dated bool
	// Secrets are the plan's variables of what the command line has in plain text.
	Secrets []secret.Secret
	// places holds the options by their names, for the mistakes that the plan shows.
	places map[string]place
	// Usage and Version report that the command line asks for nothing else.
	Usage, Version bool
}

// File is one file of a run: its name in the folder of the results, and in the tool's own.
type File struct{ Result, Name string }

// LineFile is the file name of positions in a command line.
const LineFile = "command line"

// PerfAnalyzer converts a command line of perf_analyzer. With an error among the diagnostics there
// is no plan. Warnings name what the plan cannot express.
func PerfAnalyzer(o Options) (Converted, source.Diagnostics) {
	c := newCommand(o)
	c.read()
	c.authorize(&c.request.headers)
	if c.out.Usage || c.out.Version {
		return Converted{Line: c.text, Usage: c.out.Usage, Version: c.out.Version}, nil
	}
	if !c.doubtful {
		c.rules()
	}
	if c.diags.HasErrors() {
		return Converted{Line: c.text}, c.mistakes()
	}
	c.out.Line, c.out.Plan, c.out.places = c.text, c.plan(), c.places()
	c.out.Secrets = c.used
	return c.out, c.mistakes()
}

// perfAnalyzerNames are the names of perf_analyzer's program.
var perfAnalyzerNames = []string{"perf_analyzer", "perf_client"}
