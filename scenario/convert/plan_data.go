package convert

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/scenario/convert/plantext"
	"github.com/sluice-bench/sluice/scenario/convert/shell"
)

func writeData(d *draft) {
	from := d.because("--input-data", "--data-directory")
	paths := make([]string, len(d.data.paths))
	for i, p := range d.data.paths {
		paths[i] = d.path(p)
	}
	switch command := messageCommand(d.command); {
	case len(paths) == 0:
		writeGenerated(d)
	case d.data.dir != "":
		d.Add("data: {dir: "+d.path(d.data.dir)+"}", from)
		if len(paths) > 1 {
			d.no("--input-data", "beside a folder, perf_analyzer reads nothing else; nor does the plan")
		}
	case command != nil:
		for i, w := range command {
			command[i] = plantext.Scalar(w)
		}
		d.Add("data: {command: ["+strings.Join(command, ", ")+"], format: frames}",
			from+": message_generator of "+shell.Quote(d.data.paths[0])+"; run with --allow-exec")
	default:
		files := paths[0]
		if len(paths) > 1 {
			files = "[" + strings.Join(paths, ", ") + "]"
		}
		if d.target.kind == "torchserve" {
			from += ": files named in it are relative to it, not to the working folder"
		}
		d.Add("data: "+plantext.Flow("file: "+files, "format: perf_analyzer"), from)
	}
	if len(paths) > 0 && d.data.dir == "" {
		d.idle("the data comes from files", "--string-data", "--string-length")
	}
	d.Add("", "")
}

// writeGenerated writes generated data: one row, sent again and again, as perf_analyzer does.
func writeGenerated(d *draft) {
	kind := cmp.Or(d.data.generated.value, "random")
	from := []string{"-z", "--input-data"}
	texts := textInputs(d.command, kind)
	if texts != "" {
		kind, from = texts, append(from, "--string-data")
	}
	members := []string{"generate: " + kind, "count: 1"}
	if d.has("--string-length") && !d.has("--string-data") {
		members = append(members, "string_length: "+plantext.Count(d.data.textLength))
		from = append(from, "--string-length")
	}
	why := "one row, sent again and again, as perf_analyzer does; more: count: 16"
	if given := d.because(from...); given != "" {
		why = given + ": " + why
	}
	d.Add("data: "+plantext.Flow(members...), why)
	if !d.has("--string-data") {
		return
	}
	d.idle("--string-data says what is sent", "--string-length")
	switch {
	case texts != "":
	case d.o.Model != nil:
		d.idle("no input of the model holds texts", "--string-data")
	default:
		d.no("--string-data", fmt.Sprintf("a plan names the input: data: {generate: {INPUT: %s}}; "+
			"with --ask or --run the server is asked for it", constant(d.data.text)))
	}
}

// textInputs returns the generators of a model's inputs, with --string-data for those that hold
// texts; "": there are none.
func textInputs(c *command, kind string) string {
	isText := func(in Input) bool { return in.Text }
	if !c.has("--string-data") || c.o.Model == nil || !slices.ContainsFunc(c.o.Model.Inputs, isText) {
		return ""
	}
	var members []string
	for _, in := range c.o.Model.Inputs {
		switch {
		case in.Text:
			members = append(members, plantext.Scalar(in.Name)+": "+constant(c.data.text))
		case kind != "random": // which those that are not named are
			members = append(members, plantext.Scalar(in.Name)+": "+kind)
		}
	}
	return plantext.Flow(members...)
}

// constant returns the generator of this text; some words are generators of their own.
func constant(text string) string {
	if text == "random" || text == "zero" {
		return "{one_of: [" + text + "]}"
	}
	return plantext.Scalar(text)
}

// messageCommand returns the command in the data of --service-kind dynamic_grpc whose output is the
// messages; nil without one, or without the file.
func messageCommand(c *command) []string {
	if c.target.kind != "dynamic_grpc" || c.data.dir != "" {
		return nil
	}
	data, err := readFile(c.data.paths[0])
	var file struct {
		Data []struct {
			Command string `json:"message_generator"`
		} `json:"data"`
	}
	if err != nil || json.Unmarshal(data, &file) != nil || len(file.Data) == 0 {
		return nil
	}
	words, _ := shell.Split(file.Data[0].Command) // nil with an error
	return words
}

// oneStream counts the rows of the files where they are one stream; 0: they are several, cannot be
// read, or do not matter.
func oneStream(c *command, wanted bool) (rows int64) {
	if !wanted {
		return 0
	}
	for _, path := range c.data.paths {
		text, err := readFile(path)
		var file struct {
			Data []json.RawMessage `json:"data"`
		}
		if err != nil || json.Unmarshal(bytes.TrimPrefix(text, []byte("\ufeff")), &file) != nil {
			return 0
		}
		if slices.ContainsFunc(file.Data, func(row json.RawMessage) bool { return isList(row) }) {
			return 0
		}
		rows += int64(len(file.Data))
	}
	return rows
}
