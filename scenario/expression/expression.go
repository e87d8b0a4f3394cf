// Package expression is the typed expression language of plans: quantities with units, references
// to metrics, three-valued truth. It is the only importer of expr-lang.
//
// It is not: a store of results, a policy about samples (executor/verdict), a general calculator.
// It knows no loop.
//
// An expression goes through these steps, each of which reports mistakes at their place in the
// plan:
//
//	text ─ scan ──► tokens: literals with units, names, operators; symbols of other languages are refused
//	     ─ join ──► one token of each metric: stage("id").latency.p99
//	     ─ parse ─► expr-lang's tree, of a mask of the text: metrics and literals are none of its words
//	     ─ check ─► names resolved by the Scope, operators chosen by ruleOf, a function of each part
//
// Of expr-lang it takes the parser only. A program is the function that check made: compiling costs
// a third of what it does with expr-lang's checker and machine, whose types the rules of operators
// know already.
//
//	expression = or
//	or         = and { "or" and }
//	and        = not { "and" not }
//	not        = "not" not | comparison
//	comparison = sum [ ( "<" | "<=" | ">" | ">=" | "==" | "!=" ) sum ]
//	sum        = product { ( "+" | "-" ) product }
//	product    = unary { ( "*" | "/" ) unary }
//	unary      = "-" unary | operand
//	operand    = literal | "${" name "}" | metric | "(" expression ")" | call
//	call       = ( "min" | "max" ) "(" sum "," sum { "," sum } ")" | "abs" "(" sum ")"
//	metric     = place ( name { "." name } | "scrape" "(" text ")" "." name )
//	place      = [ "baseline" "." ] [ "stage" "(" text ")" "." ] [ ( "phase" "(" text ")" | "steady" ) "." ]
//	             [ "mix" "(" text ")" "." ] [ "model" "(" text ")" "." ]
//	literal    = decimal | duration | rate | ratio | size | power | energy
//
// One difference to the tree of expr-lang, in which not binds tighter than a comparison: `not a <
// b` is an error that offers `not (a < b)`, so that no reader has to know.
package expression

import "github.com/sluice-bench/sluice/scenario/metric"

// Scope defines the names of an expression at its place in the plan.
type Scope interface {
	// Resolve finds a metric. A *NameError says which part of the reference is wrong and what was
	// meant; the caller adds the position.
	Resolve(at Place, path string) (metric.Leaf, error)
	// Variable returns the literal that ${name} is replaced by ("50ms"), and its type: text, int,
	// number, bool, duration, rate, ratio or size.
	Variable(name string) (literal, typ string, err error)
}

// Values returns the quantity of a reference at evaluation, from a node's result or a stored file.
type Values interface{ Quantity(Ref) Quantity }
