// Package schema holds the JSON Schemas of plans and results and checks documents against them.
//
// It is not: an explainer of meaning, a place that fills in defaults.
package schema

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

//go:generate go run ./generate . ../scenario/language
//go:generate env UPDATE_GUIDE=1 go test -count=1 -run ^TestReference$ ../cmd/sluice

//go:embed plan.schema.json
var planText []byte

// The schema of the whole plan language (JSON Schema 2020-12). The keyword notBuilt marks what this
// version cannot run: it is true, or a list of words.
//
//go:embed language.json
var languageText []byte

//go:embed plan.check.json
var checkText []byte

//go:embed profiles.check.json
var profilesText []byte

//go:embed result.schema.json
var resultText []byte

// Plan is the schema of the plans that this version can run (JSON Schema 2020-12).
func Plan() []byte { return slices.Clone(planText) }

// IsPlan reports whether text is a schema of plans, of this version or of another.
func IsPlan(text []byte) bool {
	var header struct {
		ID string `json:"$id"`
	}
	return json.Unmarshal(text, &header) == nil && header.ID == planURL
}

// Result is the schema of result.json.
func Result() []byte { return slices.Clone(resultText) }

// The addresses that the schemas are known under while they are compiled; nothing is fetched.
const (
	planURL   = "https://sluice-bench.github.io/schema/plan/v1.json"
	resultURL = "https://sluice-bench.github.io/schema/result/v1.json"
)

// The compiled schemas (of the plan: smaller copies that say the same, profiles apart); each is made
// when it is first needed and never changed.
var (
	planSchema     = onDemand(planURL, checkText)
	profilesSchema = onDemand(planURL, profilesText)
	resultSchema   = onDemand(resultURL, resultText)
)

func onDemand(url string, text []byte) func() (*jsonschema.Schema, error) {
	return sync.OnceValues(func() (*jsonschema.Schema, error) { return compile(url, text) })
}

// compile reads a schema. It never opens a file or a connection for a reference.
func compile(url string, text []byte) (*jsonschema.Schema, error) {
	c := jsonschema.NewCompiler()
	c.Draft = jsonschema.Draft2020
	c.AssertFormat = true
	c.LoadURL = func(url string) (io.ReadCloser, error) {
		return nil, errors.New("references outside are not followed: " + url)
	}
	c.RegisterExtension(notBuilt, nil, laterCompiler{})
	if err := c.AddResource(url, strings.NewReader(string(text))); err != nil {
		return nil, fmt.Errorf("read schema %s: %w", url, err)
	}
	s, err := c.Compile(url)
	if err != nil {
		return nil, fmt.Errorf("compile schema %s: %w", url, err)
	}
	return s, nil
}

// notBuilt is a keyword of ours: true on what this version cannot run, or a list of the words that
// it cannot.
const notBuilt = "notBuilt"

type laterCompiler struct{}

// Compile implements jsonschema.ExtCompiler.
func (laterCompiler) Compile(_ jsonschema.CompilerContext, m map[string]any) (jsonschema.ExtSchema, error) {
	if mark, ok := m[notBuilt]; ok {
		return later{mark}, nil
	}
	return nil, nil //nolint:nilnil // what the interface asks for
}

type later struct{ mark any }

// Validate implements jsonschema.ExtSchema: it notes what is not built yet, for Check. A word is the
// value itself, or its unit (`3 sessions`).
func (l later) Validate(ctx jsonschema.ValidationContext, v any) error {
	words, _ := l.mark.([]any)
	text, _ := v.(string)
	_, unit, _ := strings.Cut(text, " ")
	if l.mark == true || slices.Contains(words, v) ||
		slices.Contains(words, any(strings.TrimLeft(unit, " "))) {
		return ctx.Error(notBuilt, "not built yet")
	}
	return nil
}
