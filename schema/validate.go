package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/sluice-bench/sluice/scenario/source"
)

// Check says what is wrong with the shape of a plan: every mistake once, at its place, sorted. root is the
// plan after variables.
func Check(root *source.Node) source.Diagnostics {
	if root == nil {
		return nil
	}
	found, err := checkPlan(root)
	if err != nil {
		d := source.Errorf("not-checked", "the plan could not be checked against its schema").
			Help(err.Error())
		return source.Diagnostics{d.At("", root.Pos, 0)}
	}
	return reported(root, found)
}

// reported makes diagnostics of what the validator found.
func reported(root *source.Node, found []violation) source.Diagnostics {
	if len(found) == 0 {
		return nil
	}
	r := newReporter(root)
	r.collect(found)
	return r.found.Sorted()
}

// checkPlan runs the validator over a plan, and over its profiles if it has some.
func checkPlan(root *source.Node) ([]violation, error) {
	data := root.JSON()
	leaves, err := check(planSchema, data)
	if err != nil || root.Get("profiles") == nil {
		return leaves, err
	}
	more, err := check(profilesSchema, data)
	return append(leaves, more...), err
}

// ValidateResult checks the bytes of a result.json. The error lists all mistakes.
func ValidateResult(data []byte) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	switch err := dec.Decode(&v); {
	case errors.Is(err, io.EOF):
		return errors.New("it is empty")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("its JSON is cut short")
	case err != nil:
		return fmt.Errorf("read result: %w", err)
	}
	leaves, err := check(resultSchema, v)
	if err != nil {
		return fmt.Errorf("check result: %w", err)
	}
	var all []error
	for _, l := range leaves {
		all = append(all, errors.New(strings.TrimPrefix(l.path()+": "+l.message, ": ")))
	}
	return errors.Join(all...)
}

// violation is one rule of the schema that a value breaks.
type violation struct {
	at      []string // keys and indexes of the value
	rule    []string // pointer into the schema, ending in the keyword
	message string

	// What reporter.find adds.
	node   *source.Node // the value; of a key: nil
	schema *source.Node // that holds the keyword
	def    string       // the definition that the schema belongs to
}

func (v violation) keyword() string { return last(v.rule) }

// path points to the value, or to keys below it.
func (v violation) path(keys ...string) string {
	return source.JoinPointer(slices.Concat(v.at, keys)...)
}

// check runs the validator. It panics on some data (a number without a finite value), which must not
// reach the user.
func check(compiled func() (*jsonschema.Schema, error), v any) (leaves []violation, err error) {
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
func flatten(e *jsonschema.ValidationError, into []violation) []violation {
	if len(e.Causes) == 0 {
		_, fragment, _ := strings.Cut(e.AbsoluteKeywordLocation, "#")
		return append(
			into,
			violation{at: decode(e.InstanceLocation), rule: decode(fragment), message: e.Message},
		)
	}
	for _, c := range e.Causes {
		into = flatten(c, into)
	}
	return into
}

// decode splits a pointer of the validator: a JSON pointer that is percent-encoded.
func decode(pointer string) []string {
	if plain, err := url.PathUnescape(pointer); err == nil {
		pointer = plain
	}
	return source.SplitPointer(pointer)
}

// tree is the schema of the whole language as nodes, which keep the order of keys: JSON is YAML. The
// pointers of the validator's errors lead into it.
var tree = sync.OnceValue(func() *source.Node {
	root, found := source.Parse("language.json", languageText)
	if found.HasErrors() {
		panic("schema: " + found.Error()) // the embedded file is broken
	}
	return root
})
