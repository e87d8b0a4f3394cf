package main

import (
	"encoding/json"
	"fmt"
	"strings"
)

// snippet is a text that editors offer, with places to fill in: ${1:first}.
type snippet struct {
	label, description string
	body               any
}

// snippetsOf lists the snippets by definition and key; key "" is the definition itself, for the items
// of a list.
func snippetsOf(definition, key string) []snippet {
	switch definition + "." + key {
	case "plan.target":
		return []snippet{{"target", "The server and the model.", parse(
			`{backend: "${1:triton}", url: "${2:http://localhost:8000}", model: "${3:resnet50}"}`,
		)}}
	case "plan.targets":
		return []snippet{{"targets", "Servers by name.", parse(
			`{"${1:main}": {backend: "${2:triton}", url: "${3:http://localhost:8000}", ` +
				`model: "${4:resnet50}"}}`,
		)}}
	case "plan.vars":
		return []snippet{{"variables", "Values that can be set from outside.", parse(
			`{"${1:url}": {default: "${2:http://localhost:8000}", env: "${3:TRITON_URL}", ` +
				`description: "${4:where the model is served}"}}`,
		)}}
	case "plan.profiles":
		return []snippet{{"profiles", "Changes for one environment.", parse(
			`{"${1:ci}": {vars: {"${2:limit}": "${3:80ms}"}}}`,
		)}}
	case "stage_map.load", "defaults.load":
		return []snippet{
			{"closed loop", "A fixed number of requests in flight.", parse(`{concurrency: "${1:8}"}`)},
			{
				"open loop", "Requests arrive at a rate, whatever the server does.",
				parse(`{rate: "${1:100/s}", arrivals: "${2|poisson,constant|}"}`),
			},
			{"search", "The largest rate for which a condition holds.", parse(
				`{rate: {search: {from: "${1:10/s}", to: "${2:1000/s}", while: "${3:latency.p99 < 50ms}"}}}`,
			)},
		}
	case "plan.stages", "plan_with_defaults.stages", "extension.stages":
		return []snippet{
			{"stage, closed loop", "Latency and throughput by requests in flight.", parse(
				`{id: "${1:sweep}", load: {concurrency: "${2:[1, 2, 4, 8]}"}, for: "${3:10s}"}`,
			)},
			{"stage, open loop", "A rate with a bound of its latency.", parse(
				`{id: "${1:steady}", load: {rate: "${2:100/s}", arrivals: poisson}, for: "${3:60s}", ` +
					`assert: ["latency.p99 < ${4:50ms}", "errors.ratio <= ${5:0.1%}"]}`,
			)},
			{"stages in parallel", "Stages that start together.", parse(
				`{parallel: [{id: "${1:a}", load: {rate: "${2:50/s}"}, for: "${3:60s}"}, ` +
					`{id: "${4:b}", load: {concurrency: "${5:4}"}, for: "${6:60s}"}]}`,
			)},
		}
	case "plan.defaults":
		return []snippet{{"defaults", "What every stage has unless it says otherwise.", parse(
			`{warmup: "${1:5s}", load: {concurrency: "${2:8}"}, for: "${3:30s}"}`,
		)}}
	case "assertion.":
		return []snippet{
			{"latency", "A bound of a percentile.", "latency.p99 < ${1:50ms}"},
			{"errors", "The share of requests that may fail.", "errors.ratio <= ${1:0.1%}"},
			{"throughput", "What was offered was answered.", "requests.rate >= ${1:0.95} * offered.rate"},
			{"assertion with options", "With a name, or as a warning.", parse(
				`{that: "latency.p99 < ${1:50ms}", id: "${2:p99}", severity: "${3|gate,warn|}"}`,
			)},
		}
	}
	return nil
}

// withSnippets adds the snippets of a definition and of its keys.
func withSnippets(name string, schema object) object {
	if all := snippetsOf(name, ""); all != nil {
		schema = schema.with(member{"defaultSnippets", written(all)})
	}
	properties, _ := schema.get("properties").(object)
	var keys object
	for _, p := range properties {
		if property, ok := p.value.(object); ok && property.get("description") != nil {
			p.value = offered(property, snippetsOf(name, p.name))
		}
		keys = append(keys, p)
	}
	if keys != nil {
		schema = schema.with(member{"properties", keys})
	}
	return schema
}

// offered adds snippets to a property; without any, an example that is a map becomes one. Without a
// snippet editors insert the defaults of a map's keys. They insert the only snippet with the key if
// there is no other value on the same level, so default and example move one level down. Empty
// defaults are left out.
func offered(property object, all []snippet) object {
	example, isMap := property.get("examples").([]any)[0].(object)
	if all == nil && isMap {
		_, free := property.get("additionalProperties").(object)
		all = []snippet{{"example", "", new(stops).fill(example, free)}}
	}
	read, rest := property.only("title", "description"), property.without("title", "description")
	if isMap {
		rest = rest.without("examples")
	}
	if list, is := property.get("default").([]any); is && len(list) == 0 || !is && isMap {
		rest = rest.without("default")
	}
	if all == nil {
		return append(read, rest...)
	}
	snippets := member{"defaultSnippets", written(all)}
	forms, _ := property.get("anyOf").([]object)
	switch {
	case property.get("items") != nil: // snippets of a list are those of its items
		return append(append(read, snippets), rest...)
	case forms != nil && forms[0].get("items") != nil: // or null
		return property.with(member{"anyOf", append([]object{forms[0].with(snippets)}, forms[1:]...)})
	}
	return append(read, snippets, member{"allOf", []object{rest}})
}

// stops numbers the places to fill in.
type stops int

// fill is an example with its scalars, and the names that the plan chooses, as places to fill in.
func (n *stops) fill(v any, names bool) any {
	switch v := v.(type) {
	case object:
		var out object
		for _, m := range v {
			if names {
				m.name = n.place(m.name)
			}
			m.value = n.fill(m.value, false)
			out = append(out, m)
		}
		return out
	case []any:
		var out []any
		for _, item := range v {
			out = append(out, n.fill(item, false))
		}
		return out
	}
	return n.place(v)
}

// place is a place for a value, in the syntax of snippets, in which $ and } have a meaning of their own.
func (n *stops) place(v any) string {
	text, is := v.(string)
	if !is {
		text = plain(v)
	}
	*n++
	return fmt.Sprintf("${%d:%s}", *n, strings.NewReplacer("$", `\$`, "}", `\}`).Replace(text))
}

// plain is a number or a truth value as it is written.
func plain(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // no such value is in the tables
	}
	return string(text)
}

func written(all []snippet) []object {
	var list []object
	for _, s := range all {
		o := object{{"label", s.label}}
		if s.description != "" {
			o = append(o, member{"description", s.description})
		}
		list = append(list, append(o, member{"body", s.body}))
	}
	return list
}
