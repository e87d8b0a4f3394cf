package convert

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

func (s *settings) data(p *page) {
	switch {
	case len(s.paths) > 0 && s.dirs > 0:
		dir := s.paths[0]
		for _, path := range s.paths {
			if info, err := s.o.Stat(path); err == nil && info.IsDir() {
				dir = path
				break
			}
		}
		p.add("data: {dir: "+s.path(dir)+"}", s.because("--input-data", "--data-directory"))
		if len(s.paths) > 1 {
			s.no("--input-data", "beside a folder, perf_analyzer reads nothing else; nor does the plan")
		}
	case len(s.paths) > 0:
		s.files(p)
	default:
		s.made(p)
	}
	p.add("", "")
}

// files writes the data of files in perf_analyzer's own form.
func (s *settings) files(p *page) {
	var list []string
	for _, path := range s.paths {
		list = append(list, s.path(path))
	}
	file := list[0]
	if len(list) > 1 {
		file = "[" + strings.Join(list, ", ") + "]"
	}
	if command := s.generator(); command != nil {
		var words []string
		for _, w := range command {
			words = append(words, scalar(w))
		}
		why := s.because("--input-data", "--data-directory")
		p.add("data: {command: ["+strings.Join(words, ", ")+"], format: frames}",
			why+": message_generator of "+quote(s.paths[0])+"; run with --allow-exec")
	} else {
		p.add("data: "+flow("file: "+file, "format: perf_analyzer"),
			s.because("--input-data", "--data-directory"))
	}
	s.idle("--string-data", "the data comes from files")
	s.idle("--string-length", "the data comes from files")
}

// made writes generated data: one row, sent again and again, as perf_analyzer does.
func (s *settings) made(p *page) {
	kind := s.generate
	if kind == "" {
		kind = "random"
	}
	texts := s.texts(kind)
	if texts != "" {
		kind = texts
	}
	members, from := []string{"generate: " + kind, "count: 1"}, []string{"-z", "--input-data"}
	if texts != "" {
		from = append(from, "--string-data")
	}
	if s.has("--string-length") && !s.has("--string-data") {
		members, from = append(members,
			"string_length: "+count(s.stringLength)), append(from, "--string-length")
	}
	why := "one row, sent again and again, as perf_analyzer does; more: count: 16"
	if given := s.because(from...); given != "" {
		why = given + ": " + why
	}
	p.add("data: "+flow(members...), why)
	if !s.has("--string-data") {
		return
	}
	s.idle("--string-length", "--string-data says what is sent")
	switch {
	case texts != "":
	case s.o.Model != nil:
		s.idle("--string-data", "no input of the model holds texts")
	default:
		s.no("--string-data", fmt.Sprintf("a plan names the input: data: {generate: {INPUT: %s}}; "+
			"with --ask or --run the server is asked for it", constant(s.stringData)))
	}
}

// texts returns the generators of a model's inputs, with --string-data for those that hold texts;
// "": there are none.
func (s *settings) texts(kind string) string {
	isText := func(in Input) bool { return in.Text }
	if !s.has("--string-data") || s.o.Model == nil || !slices.ContainsFunc(s.o.Model.Inputs, isText) {
		return ""
	}
	var members []string
	for _, in := range s.o.Model.Inputs {
		switch {
		case in.Text:
			members = append(members, scalar(in.Name)+": "+constant(s.stringData))
		case kind != "random": // which those that are not named are
			members = append(members, scalar(in.Name)+": "+kind)
		}
	}
	return flow(members...)
}

// constant returns the generator of this text; some words are generators of their own.
func constant(text string) string {
	if text == "random" || text == "zero" {
		return "{one_of: [" + text + "]}"
	}
	return scalar(text)
}

// oneStream counts the rows of the files where they are one stream; 0: they are several, cannot be
// read, or do not matter.
func (s *settings) oneStream(wanted bool) (rows int64) {
	for _, path := range s.paths {
		if info, err := s.o.Stat(path); !wanted || err != nil || !info.Mode().IsRegular() {
			return 0
		}
		text, err := s.o.Read(path)
		var file struct {
			Data []json.RawMessage `json:"data"`
		}
		if err != nil || json.Unmarshal(bytes.TrimPrefix(text, []byte("\ufeff")), &file) != nil {
			return 0
		}
		for _, row := range file.Data {
			if bytes.HasPrefix(bytes.TrimSpace(row), []byte("[")) {
				return 0
			}
			rows++
		}
	}
	return rows
}
