package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/sluice-bench/sluice/scenario/source"
)

// Validate says what is wrong with the shape of a plan: every mistake once, at its place, sorted.
func Validate(root *source.Node) source.Diagnostics {
	if root == nil {
		return nil
	}
	leaves, err := check(planSchema, root.JSON())
	if err != nil {
		return source.Diagnostics{{
			Severity: source.Error, Code: "not-checked", Summary: "the plan could not be checked against its schema",
			Detail: err.Error(), Pos: root.Pos,
		}}
	}
	if len(leaves) == 0 {
		return nil
	}
	r := newReporter(root)
	r.collect(leaves)
	return r.found.Sorted()
}

// ValidateResult checks the bytes of a result.json. The error lists all mistakes.
func ValidateResult(data []byte) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return fmt.Errorf("read result: %w", err)
	}
	leaves, err := check(resultSchema, v)
	if err != nil {
		return fmt.Errorf("check result: %w", err)
	}
	var all []error
	for _, l := range leaves {
		all = append(all, fmt.Errorf("%s: %s", source.JoinPointer(l.at...), l.message))
	}
	return errors.Join(all...)
}

// leafError is one complaint of the validator.
type leafError struct {
	at      []string // keys and indexes of the value
	keyword []string // pointer into the schema, ending in the keyword
	message string
}

// check runs the validator. It panics on some data (a number without a finite value), which must not reach the user.
func check(compiled func() (*jsonschema.Schema, error), v any) (leaves []leafError, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the validator gave up: %v", r)
		}
	}()
	s, err := compiled()
	if err != nil {
		return nil, err
	}
	err = s.Validate(v)
	var invalid *jsonschema.ValidationError
	if errors.As(err, &invalid) {
		return flatten(invalid, nil), nil
	}
	return nil, err
}

// flatten gives the errors without causes: the others only say that there are some.
func flatten(e *jsonschema.ValidationError, into []leafError) []leafError {
	if len(e.Causes) == 0 {
		_, fragment, _ := strings.Cut(e.AbsoluteKeywordLocation, "#")
		return append(into, leafError{at: decode(e.InstanceLocation), keyword: decode(fragment), message: e.Message})
	}
	for _, c := range e.Causes {
		into = flatten(c, into)
	}
	return into
}

// decode splits the validator's pointers, whose tokens are percent-encoded JSON pointer tokens.
func decode(pointer string) []string {
	var tokens []string
	for _, t := range strings.Split(strings.TrimPrefix(pointer, "/"), "/") {
		if plain, err := url.PathUnescape(t); err == nil {
			t = plain
		}
		tokens = append(tokens, source.SplitPointer("/"+t)...)
	}
	if pointer == "" {
		return nil
	}
	return tokens
}

// tree is the text of the plan's schema as nodes, which keep the order of keys: JSON is YAML.
var tree = sync.OnceValue(func() *source.Node {
	root, found := source.Parse("plan.schema.json", planText)
	if found.HasErrors() {
		panic("schema: " + found.Error()) // the embedded file is broken
	}
	return root
})
