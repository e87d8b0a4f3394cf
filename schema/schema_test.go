package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// keywords are those that our schemas may use; a misspelled one would say nothing.
var keywords = strings.Fields(`$schema $id $comment $defs $ref title description default examples type enum const pattern
	properties additionalProperties propertyNames required minProperties items minItems maxItems minimum maximum exclusiveMinimum
	allOf anyOf if then else not format errorMessage patternErrorMessage defaultSnippets`)

func decoded(t *testing.T, data []byte) map[string]any {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var m map[string]any
	if err := dec.Decode(&m); err != nil {
		t.Fatal(err)
	}
	return m
}

// eachSchema calls f for s and for every schema inside it, with its pointer.
func eachSchema(s any, at string, f func(at string, s map[string]any)) {
	m, ok := s.(map[string]any)
	if !ok {
		return
	}
	f(at, m)
	for k, v := range m {
		switch k {
		case "properties", "$defs":
			for name, sub := range v.(map[string]any) {
				eachSchema(sub, at+"/"+k+"/"+name, f)
			}
		case "items", "if", "then", "else", "not", "additionalProperties", "propertyNames":
			eachSchema(v, at+"/"+k, f)
		case "allOf", "anyOf":
			for i, sub := range v.([]any) {
				eachSchema(sub, fmt.Sprintf("%s/%s/%d", at, k, i), f)
			}
		}
	}
}

func TestSchemaKeywords(t *testing.T) {
	for name, text := range map[string][]byte{"the language": languageText, "the plan": Plan()} {
		t.Run(name, func(t *testing.T) { keywordsOf(t, decoded(t, text)) })
	}
}

func keywordsOf(t *testing.T, root map[string]any) {
	t.Helper()
	formats := []string{"date-time", "uri", "regex"}
	n := 0
	eachSchema(root, "", func(at string, s map[string]any) {
		n++
		for k := range s {
			if !slices.Contains(keywords, k) {
				t.Errorf("%s: keyword %q is not one that we use", at, k)
			}
		}
		if format, ok := s["format"].(string); ok && !slices.Contains(formats, format) {
			t.Errorf("%s: format %q is not checked", at, format)
		}
		if ref, ok := s["$ref"].(string); ok {
			name := strings.TrimPrefix(ref, "#/$defs/")
			if _, ok := root["$defs"].(map[string]any)[name]; !ok {
				t.Errorf("%s: %s leads nowhere", at, ref)
			}
		}
		_, others := s["additionalProperties"].(map[string]any) // of names that the plan chooses
		if s["properties"] != nil && s["title"] != nil && s["additionalProperties"] != false && !others {
			t.Errorf("%s: a map with known keys is open", at)
		}
	})
	if n < 1000 {
		t.Errorf("only %d schemas were looked at", n)
	}
}

func TestSchemaHeader(t *testing.T) {
	root := decoded(t, Plan())
	if root["$schema"] != "https://json-schema.org/draft/2020-12/schema" || root["$id"] != planURL {
		t.Errorf("$schema %v, $id %v", root["$schema"], root["$id"])
	}
}

// Every key that a person can write says what it is and shows a value that it accepts, to the
// program as an example and to editors as a snippet where that is a map.
func TestEveryPropertyHasAnExampleThatIsValid(t *testing.T) {
	for name, text := range map[string][]byte{"the language": languageText, "the plan": Plan()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			examplesOf(t, text)
		})
	}
}

func examplesOf(t *testing.T, text []byte) {
	t.Helper()
	root := decoded(t, text)
	c := jsonschema.NewCompiler()
	c.AssertFormat = true
	c.LoadURL = func(url string) (io.ReadCloser, error) { return nil, fmt.Errorf("load %s", url) }
	if err := c.AddResource(planURL, bytes.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	checked := 0
	check := func(at string, values []any) {
		compiled, err := c.Compile(planURL + "#" + strings.ReplaceAll(at, "^", "%5E"))
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range values {
			checked++
			if err := compiled.Validate(v); err != nil {
				t.Errorf("%s: example, default or snippet %v: %v", at, v, err)
			}
		}
	}
	eachSchema(root, "", func(at string, s map[string]any) {
		if s["title"] == nil && at != "" {
			return // the properties of a condition
		}
		if strings.Count(at, "/") == 2 && s["defaultSnippets"] != nil { // of a definition
			check(at, snippetsOf(t, s))
		}
		properties, _ := s["properties"].(map[string]any)
		for name, sub := range properties {
			property := sub.(map[string]any)
			examples, _ := property["examples"].([]any)
			if below, is := property["allOf"].([]any); is && len(examples) == 0 {
				examples, _ = below[0].(map[string]any)["examples"].([]any)
			}
			values := append(slices.Clone(examples), snippetsOf(t, property)...)
			if len(values) == 0 || property["description"] == nil {
				t.Errorf("%s/properties/%s: no description or no example", at, name)
			}
			if d, ok := property["default"]; ok {
				values = append(values, d)
			}
			check(at+"/properties/"+name, values)
		}
	})
	if checked < 500 {
		t.Errorf("only %d values were checked", checked)
	}
}

// snippetsOf are the values that the snippets of a schema insert when nothing is filled in.
func snippetsOf(t *testing.T, s map[string]any) (values []any) {
	t.Helper()
	snippets, _ := s["defaultSnippets"].([]any)
	for _, one := range snippets {
		v := inserted(t, one.(map[string]any)["body"])
		if _, item := v.(map[string]any); item && s["items"] != nil {
			v = []any{v}
		}
		values = append(values, v)
	}
	return values
}

var (
	placeOfValue = regexp.MustCompile(`\$\{[0-9]+:((?:[^}\\]|\\.)*)\}`)
	placeOfWord  = regexp.MustCompile(`\$\{[0-9]+\|([^,|]*)[^}]*\|\}`)
)

// inserted is the body of a snippet with the values that it proposes.
func inserted(t *testing.T, body any) any {
	t.Helper()
	switch body := body.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, v := range body {
			out[fmt.Sprint(inserted(t, key))] = inserted(t, v)
		}
		return out
	case []any:
		var out []any
		for _, v := range body {
			out = append(out, inserted(t, v))
		}
		return out
	case string:
		text := placeOfWord.ReplaceAllString(placeOfValue.ReplaceAllString(body, "$1"), "$1")
		return parse(t, "snippet", strings.NewReplacer(`\$`, "$", `\}`, "}").Replace(text)).JSON()
	}
	return body
}

func TestCompileFollowsNoReferencesOutside(t *testing.T) {
	for _, ref := range []string{"other.json", "file:///etc/hostname", "https://example.com/x.json"} {
		if _, err := compile("https://example.com/s.json", []byte(`{"$ref": "`+ref+`"}`)); err == nil {
			t.Errorf("%s was followed", ref)
		}
	}
}

func TestFormatsAreChecked(t *testing.T) {
	s, err := compile("https://example.com/s.json",
		[]byte(`{"$schema": "https://json-schema.org/draft/2020-12/schema", "format": "date-time"}`))
	if err != nil {
		t.Fatal(err)
	}
	if s.Validate("yesterday") == nil || s.Validate("2026-11-28T00:00:00Z") != nil {
		t.Error("format says nothing")
	}
}
