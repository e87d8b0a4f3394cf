package convert

import (
	"slices"
	"strconv"
	"strings"

	"github.com/sluice-bench/sluice/scenario/source"
)

// The takers below read options whose value has a form of its own.

// takeData reads zero, random or a path. The first path that is a folder decides for folders;
// others are then left out.
func (s *settings) takeData(g given) {
	switch g.value {
	case "zero", "random":
		s.generate, s.generated = g.value, g
		return
	}
	info, err := s.o.Stat(g.value)
	if err != nil {
		if near := source.Nearest(g.value, []string{"zero", "random"}); near != "" {
			s.notAllowed(g, g.value, []string{"zero", "random", "the path of a file or a folder"})
			s.diags[len(s.diags)-1].Nearest = near
			return
		}
		s.warn(g.at, codeFile, "%s: there is no file or folder %q here, so it is taken as a file", g,
			g.value).Detail = "the plan names it all the same; `validate` wants it"
	}
	if err == nil && info.IsDir() {
		s.dirs++
	}
	s.paths = append(s.paths, g.value)
}

// takeShape reads NAME:1,2,3; the last colon separates.
func (s *settings) takeShape(g given) {
	at := strings.LastIndexByte(g.value, ':')
	if at <= 0 {
		d := s.fail(g.at, codeValue,
			"%s wants a colon between the input and its dimensions, %q has none", g, g.value)
		d.Detail = "write " + g.synopsis()
		return
	}
	var dims []string
	for _, text := range strings.Split(g.value[at+1:], ",") {
		n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
		switch {
		case err != nil:
			s.fail(g.at, codeValue, "%s: the dimension %q is no whole number", g,
				text).Detail = "write " + g.synopsis()
			return
		case n <= 0:
			s.fail(g.at, codeValue, "%s: a dimension must be above 0, %d is given", g, n)
			return
		}
		dims = append(dims, strconv.FormatInt(n, 10))
	}
	one := shape{g.value[:at], strings.Join(dims, ", ")}
	s.shapes = slices.DeleteFunc(s.shapes, func(o shape) bool { return o.input == one.input })
	s.shapes = append(s.shapes, one)
}

// takeComposing reads a list of name[:version]; blanks are ignored.
func (s *settings) takeComposing(g given) {
	s.composing = nil
	list := strings.Join(strings.Fields(g.value), "")
	for one := range strings.SplitSeq(list, ",") {
		name, version, found := strings.Cut(one, ":")
		switch {
		case name == "" || found && version == "":
			s.fail(g.at, codeValue, "%s: %q is no name of a model, nor a name and a version", g,
				one).Detail = "write " + g.synopsis()
			return
		case found:
			if _, ok := s.integer(g, version, 1); !ok {
				return
			}
		}
		s.composing = append(s.composing, one)
	}
}

// takeParameter reads name:value:type. perf_analyzer drops an unknown type silently.
func (s *settings) takeParameter(g given) {
	parts := strings.Split(g.value, ":")
	if len(parts) != 3 {
		s.fail(g.at, codeValue, "%s has three parts, %q has %d", g, g.value,
			len(parts)).Detail = "write " + g.synopsis() + ", such as max_tokens:256:int"
		return
	}
	p := parameter{parts[0], parts[1], strings.ToLower(parts[2])}
	switch p.kind {
	case "int":
		n, ok := s.integer(g, p.value, -1<<63)
		if !ok {
			return
		}
		p.value = count(n) // 010 is eight in a plan
	case "bool":
		if p.value = strings.ToLower(p.value); p.value != "true" && p.value != "false" {
			s.fail(g.at, codeValue, "%s: %q is neither true nor false", g, parts[1])
			return
		}
	case "string":
	default:
		s.notAllowed(g, p.kind, []string{"string", "int", "bool"})
		return
	}
	s.parameters = slices.DeleteFunc(s.parameters, func(o parameter) bool { return o.name == p.name })
	s.parameters = append(s.parameters, p)
}

func (s *settings) takeHeader(g given) {
	name, value, ok := strings.Cut(g.value, ":")
	if name = strings.TrimSpace(name); !ok || name == "" {
		s.fail(g.at, codeValue, "%s wants a colon between a header's name and its value, %q has none",
			g, g.value).Detail = "write " + g.synopsis()
		return
	}
	h := header{name, strings.TrimSpace(value)}
	s.headers = slices.DeleteFunc(s.headers, func(o header) bool { return strings.EqualFold(o.name, h.name) })
	s.headers = append(s.headers, h)
}

func (s *settings) takeMethod(g given) {
	service, method, ok := strings.Cut(g.value, "/")
	if !ok || service == "" || method == "" || strings.Contains(method, "/") {
		s.fail(g.at, codeValue, "%s: %q is not package.Service/Method", g,
			g.value).Detail = "one slash separates the service from its method"
		return
	}
	s.method = g.value
}

// takeTrace adds up levels; OFF takes back those before it.
func (s *settings) takeTrace(g given) {
	level := ""
	word(func(*settings) *string { return &level }, exactly, "OFF", "TIMESTAMPS", "TENSORS")(s, g)
	switch {
	case level == "OFF":
		s.traceLevels, s.traceOff = nil, true
	case level != "" && !slices.Contains(s.traceLevels, level):
		s.traceLevels, s.traceOff = append(s.traceLevels, level), false
	}
}
