// Package source turns the bytes of a plan into YAML nodes with their places, and holds the
// one form of a mistake that is shown to a person: Diagnostic.
//
// It is not: a schema, a decoder, a place that knows any key of a plan.
package source

// Pos is a place in a file. Line and Column count from 1; Column counts characters, not bytes. The
// zero Pos is nowhere.
type Pos struct {
	File   string
	Line   int
	Column int
}

// Kind is the kind of a node in YAML.
type Kind uint8

// The kinds of node. Null is a scalar without a value (`~`, `null`, or nothing).
const (
	Null Kind = iota + 1
	Scalar
	List
	Map
)

// Node is one value of the document. Text is the scalar as written (after unquoting), never yaml's
// decoded value.
type Node struct {
	Kind    Kind
	Tag     string // "!!str", "!!int", "!!float", "!!bool", "!!null", "!!map", "!!seq"; see Plain
	Quoted  bool
	Block   bool // a | or > scalar: Pos is that of the mark, the text starts one line below
	Text    string
	Pos     Pos     // of an expanded alias and all that is under it: where the alias is used
	Entries []Entry // of a Map, in document order; keys are unique
	Items   []*Node // of a List
	Runs    []Run   // the places of the pieces of Text, unless it is one piece; see Text.At
	Comment string  // of a plain scalar: the comment that ends its line
	Anchor  Pos     // of what an alias brought: where it is written, while Pos is where it is used; else zero
}

// Run is the place of the text of a scalar from character Offset on, up to the next run.
type Run struct {
	Offset int
	Pos    Pos
}

// Entry is one key of a map and its value.
type Entry struct {
	Key    string
	KeyPos Pos
	Value  *Node
}

// Severity of a diagnostic.
type Severity string

// The severities. Only Error stops a plan.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// Diagnostic is one mistake of a user, or one warning.
type Diagnostic struct {
	Severity Severity
	Code     string   // stable word for tests and explain: "unknown-key", "not-allowed" …
	Summary  string   // one line, no trailing period
	Detail   string   // what to do next; may be empty
	Path     string   // JSON pointer into the plan, "" for the whole
	Pos      Pos      // start of the marked text
	Width    int      // characters marked from Pos; 0 marks one
	Allowed  []string // values or words allowed here
	Nearest  string   // the likeliest word meant
	Hidden   bool     // the line at Pos is not shown: it holds a secret
}
