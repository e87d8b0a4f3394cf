// Package schema holds the JSON Schemas of plans and results and checks documents against them.
//
// It is not: an explainer of meaning, a place that fills in defaults.
package schema

import (
	_ "embed"

	"github.com/sluice-bench/sluice/scenario/source"
)

//go:embed plan.schema.json
var planText []byte

//go:embed result.schema.json
var resultText []byte

// Plan is the schema of plans (JSON Schema 2020-12).
func Plan() []byte { return planText }

// Result is the schema of result.json.
func Result() []byte { return resultText }

// Validate says what is wrong with the shape of a plan: every mistake once, at its place.
func Validate(root *source.Node) source.Diagnostics { return nil }

// ValidateResult checks the bytes of a result.json. The error lists all mistakes.
func ValidateResult(data []byte) error { return nil }

// Property is one key of the plan, for people.
type Property struct {
	Path        string // dotted, lists left out, NAME for a name that the plan chooses: "targets.NAME.url"
	Description string
	Type        string   // "duration", "list of text" …
	Default     string   // as written in a plan; "" for none
	Examples    []string // as written in a plan
	Allowed     []string // words that are built
	Keys        []string // of a map: the keys below
	Required    bool
	Built       bool     // false: part of the language, but not built yet
	NotBuilt    []string // words that are not built yet
}

// Lookup finds a key by its dotted path ("stages.load.rate", "targets.main.url") or by its bare name, then the one with
// the shortest path.
func Lookup(path string) (Property, bool) { return Property{}, false }

// Keys is the dotted path of every key, in the order of the schema.
func Keys() []string { return nil }
