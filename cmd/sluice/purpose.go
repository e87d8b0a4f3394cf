package main

import (
	"embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"github.com/sluice-bench/sluice/backends"
)

// purpose is a kind of plan that init writes. Its parts are in purposes/NAME.yaml.tmpl, the frame
// of all plans in purposes/plan.yaml.tmpl.
type purpose struct {
	name, help string
	model      string // of the embedded server
	sequences  bool   // only for models that keep state
}

// purposes lists the purposes, the default first.
func purposes() []purpose {
	return []purpose{
		{name: "start", help: "a first look: a sweep of concurrency, then a steady rate", model: "slow"},
		{name: "smoke", help: "does it answer at all? A few seconds, after a deployment", model: "slow"},
		{name: "gate", help: "is this release good enough to ship? With a profile for CI", model: "slow"},
		{name: "capacity", help: "the largest rate at which the limits hold", model: "slow"},
		{name: "soak", help: "a steady rate for half an hour, judged by the minute", model: "slow"},
		{
			name: "sequence", help: "requests that belong together, for a model that keeps state",
			model: "sequence_acc", sequences: true,
		},
	}
}

func purposeNames() []string {
	var names []string
	for _, p := range purposes() {
		names = append(names, p.name)
	}
	return names
}

//go:embed purposes
var purposeFiles embed.FS

// text returns the plan for a model with a signature; asked is the error of a server that did not
// describe it.
func (p purpose) text(f initFlags, sig backends.Signature, asked error) (string, error) {
	all := template.New("plan.yaml.tmpl").Funcs(template.FuncMap{"quoted": strconv.Quote, "scalar": scalar})
	all, err := all.ParseFS(purposeFiles, "purposes/plan.yaml.tmpl", "purposes/"+p.name+".yaml.tmpl")
	if err != nil {
		return "", fmt.Errorf("read the plan of init: %w", err)
	}
	d := planDataFor(f, sig)
	d.Sequences = d.Sequences || p.sequences
	if asked != nil {
		d.Failure = oneLine(asked.Error())
	}
	var b strings.Builder
	if err := all.Execute(&b, d); err != nil {
		return "", fmt.Errorf("write the plan of init: %w", err)
	}
	return b.String(), nil
}

// planData holds the values that the templates read.
type planData struct {
	Schema              string // its file, "" for none
	URL, Backend, Model string
	Events, Decoupled   bool // decoupled models answer over HTTP in events
	Failure             string
	Inputs, Outputs     []string
	MaxBatch            int
	Sequences           bool
	Shapes              []freeShape
}

// freeShape is an input with open dimensions, and a first size for them.
type freeShape struct{ Name, Dims string }

// planDataFor returns the data of the templates for a model.
func planDataFor(f initFlags, sig backends.Signature) planData {
	d := planData{
		URL: f.url, Backend: f.backend, Model: f.model,
		Decoupled: sig.Decoupled, Sequences: sig.Sequence > backends.NoSequences,
	}
	if f.out != "" && f.schema {
		d.Schema = schemaFile
	}
	d.Events = sig.Decoupled && strings.HasPrefix(f.url, "http")
	if len(sig.Inputs) > 0 {
		d.MaxBatch = int(sig.MaxBatch)
	}
	for _, p := range sig.Inputs {
		d.Inputs = append(d.Inputs, fmt.Sprintf("%s %s %s", p.Name, p.Type, dims(p.Shape)))
		if filled := fillDims(p.Shape); !slices.Equal(filled, p.Shape) {
			d.Shapes = append(d.Shapes, freeShape{p.Name, dims(filled)})
		}
	}
	for _, p := range sig.Outputs {
		d.Outputs = append(d.Outputs, fmt.Sprintf("%s %s %s", p.Name, p.Type, dims(p.Shape)))
	}
	return d
}

// scalar returns a text as YAML, with quotes if it could be read as another type.
func scalar(text string) string {
	const begin = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
	words := []string{"", "true", "false", "null", "yes", "no", "on", "off", "y", "n"}
	if slices.Contains(words, strings.ToLower(text)) || strings.Trim(text, begin+"0123456789-./") != "" ||
		strings.Trim(text[:1], begin) != "" {
		return strconv.Quote(text)
	}
	return text
}

func dims(shape []int64) string {
	return strings.ReplaceAll(fmt.Sprint(shape), " ", ", ")
}

// fillDims replaces open dimensions by a first size.
func fillDims(shape []int64) []int64 {
	filled := slices.Clone(shape)
	for i, d := range filled {
		if d < 0 {
			filled[i] = 16
		}
	}
	return filled
}
