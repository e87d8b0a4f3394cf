// Package source turns the bytes of a plan into YAML nodes that know where they stand, and holds the one form of a
// mistake that is shown to a person: Diagnostic.
//
// It is not: a schema, a decoder, a place that knows any key of a plan.
package source

// Pos is a place in a file. Line and Column count from 1; Column counts characters, not bytes. The zero Pos is nowhere.
type Pos struct {
	File   string
	Line   int
	Column int
}

// Kind is what a node is in YAML.
type Kind uint8

// The kinds of node. Null is a scalar without a value (`~`, `null`, or nothing).
const (
	Null Kind = iota + 1
	Scalar
	List
	Map
)

// Node is one value of the document. Text is the scalar as written (after unquoting), never yaml's decoded value.
type Node struct {
	Kind    Kind
	Tag     string // "!!str", "!!int", "!!float", "!!bool", "!!null" as YAML resolves it; quoted scalars are !!str
	Quoted  bool
	Block   bool // a | or > scalar: Pos is that of the mark, the text starts one line below
	Text    string
	Pos     Pos
	Entries []Entry // of a Map, in document order; keys are unique
	Items   []*Node // of a List
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
	Code     string   // stable word for tests and explain: "unknown-key", "not-built-yet" …
	Summary  string   // one line, no trailing period
	Detail   string   // what to do next; may be empty
	Path     string   // JSON pointer into the plan, "" for the whole
	Pos      Pos      // start of the marked text
	Width    int      // characters marked from Pos; 0 marks one
	Allowed  []string // values or words allowed here
	Nearest  string   // the likeliest word meant
}

// Diagnostics is every mistake found.
type Diagnostics []Diagnostic

// Text is a piece of the plan in another grammar (an expression) and where it stands.
type Text struct {
	Text string
	Pos  Pos    // of its first character, inside any quotes
	Path string // JSON pointer
	Node *Node  // where it was read from; nil for text that is not from a file
}
