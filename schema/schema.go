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

// The schema of plans without what helps editors alone: diagnostics and explain read it.
//
//go:embed language.json
var languageText []byte

//go:embed plan.check.json
var checkText []byte

//go:embed profiles.check.json
var profilesText []byte

//go:embed result.schema.json
var resultText []byte

// Plan is the schema of plans (JSON Schema 2020-12), in the form for editors.
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
	if err := c.AddResource(url, strings.NewReader(string(text))); err != nil {
		return nil, fmt.Errorf("read schema %s: %w", url, err)
	}
	s, err := c.Compile(url)
	if err != nil {
		return nil, fmt.Errorf("compile schema %s: %w", url, err)
	}
	return s, nil
}
