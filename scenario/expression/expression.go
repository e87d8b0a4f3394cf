// Package expression is the typed expression language of plans: quantities with units, references to metrics,
// three-valued truth. It is the only importer of expr-lang.
//
// It is not: a store of results, a policy about samples (executor/verdict), a general calculator. It knows no loop.
//
// An expression goes through these steps, each of which reports mistakes at their place in the plan:
//
//	text ─ lex ─► tokens: literals with units, names, operators; what the language has not is refused here
//	     ─ shape ─► brackets and chained comparisons, which the parser could not tell apart
//	     ─ parse ─► expr-lang's tree; names and literals are placeholders in it, so that it knows none of our words
//	     ─ check ─► names resolved by the Scope, operators chosen from the table of overloads, a function of each part
//
// Of expr-lang it takes the parser only. What a program does is the function that check made: compiling costs a third of
// what it does with expr-lang's checker and machine, whose types the table of overloads knows already.
//
//	expression = or
//	or         = and { "or" and }
//	and        = not { "and" not }
//	not        = "not" not | comparison
//	comparison = sum [ ( "<" | "<=" | ">" | ">=" | "==" | "!=" ) sum ]
//	sum        = product { ( "+" | "-" ) product }
//	product    = unary { ( "*" | "/" ) unary }
//	unary      = "-" unary | operand
//	operand    = literal | "${" name "}" | metric | "(" expression ")" | ( "min" | "max" ) "(" sum "," sum { "," sum } ")" | "abs" "(" sum ")"
//	metric     = place ( name { "." name } | "scrape" "(" text ")" "." name )
//	place      = [ "baseline" "." ] [ "stage" "(" text ")" "." ] [ "phase" "(" text ")" "." ] [ "mix" "(" text ")" "." ] [ "model" "(" text ")" "." ]
//	literal    = decimal | duration | rate | ratio | size
//
// One difference to the tree of expr-lang, which binds not tighter than a comparison: `not a < b` is an error that
// offers `not (a < b)`, so that nobody has to know.
package expression

import "github.com/sluice-bench/sluice/scenario/metric"

// Quantity is a value with what is known about it. The zero Quantity is "no data": nothing that is forgotten,
// missing or mistyped can turn into a number, let alone into a pass.
type Quantity struct {
	Known     bool
	V, Lo, Hi float64 // point and confidence bounds; equal when no confidence was asked. A bound may be infinite: there is none
	N, Need   int64   // samples behind it, samples wanted for this statistic; Need 0: a constant of the plan
	Why       string  // why it is unknown, or has no bounds
	// Again are the values that it has on other selections of the same measurement (rounds left out in turn), which a Judge
	// weighs. All that have any have as many; nil: it is the same on each.
	Again []float64
}

// Truth is what comparisons and and/or/not give (Kleene): false beats unknown, unknown beats true. It keeps the
// comparison that decided it, so that observed and limit come for free.
type Truth struct {
	Is              int8 // -1 false, 0 unknown, 1 true
	Observed, Limit Quantity
	Dim             metric.Dim // of Observed and Limit
	Op              string     // so that "Observed Op Limit" is what Is says: turned where the limit stands on the left
	What, Against   string     // Observed and Limit as they are written
	Ref             *Ref       // the one metric that Observed is; nil: it is computed
	Margin          *Quantity  // Observed - Limit, where that is what a Judge decided by
	Why             string     // why it is unknown
	Err             error      // the evaluation itself failed; Is is 0 then
}

// Ref is one reference to a metric in an expression.
type Ref struct {
	Place
	Leaf metric.Leaf
	At   [2]int // character offsets in the text: start, end
}

// Place is which measurement a metric is read from: what stands before its name.
type Place struct {
	Baseline bool   // of the stored result that the plan names
	Node     string // "" = the node that is judged; else the id inside stage("…")
	Phase    string // a named hold of a ramp; "": all of hold
	Mix      string // an entry of the stage's mix; "": all
	Model    string // a composing model; "": the target's own
}

// Scope is what the names of an expression mean where it stands.
type Scope interface {
	// Resolve finds a metric. A *NameError says which part of the reference is wrong and what was meant; the caller adds
	// the position.
	Resolve(at Place, path string) (metric.Leaf, error)
	// Variable gives the one literal that ${name} stands for ("50ms"), typed: text, int, number, bool, duration, rate,
	// ratio or size.
	Variable(name string) (literal, typ string, err error)
}

// Values gives the quantity of a reference at evaluation: a node's result, a stored file.
type Values interface{ Quantity(Ref) Quantity }

// Judge is what Values may be besides: it decides comparisons that bounds cannot. t is one that is not decided yet; either
// side may be unknown. False leaves it to the bounds.
type Judge interface {
	Compare(t Truth) (Decision, bool)
}

// Decision is what a Judge found.
type Decision struct {
	Is     int8      // -1 false, 0 unknown, 1 true
	Margin *Quantity // Observed - Limit with its bounds; nil: not what it was decided by
	Why    string    // why it is unknown
}
