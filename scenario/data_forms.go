package scenario

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sluice-bench/sluice/scenario/source"
)

// all are the files of a dataset.
func (f *rawFiles) all() []*val[path] {
	switch {
	case f == nil:
		return nil
	case f.One != nil:
		return []*val[path]{f.One}
	}
	return f.Many
}

// source is the key that says where a dataset's rows come from.
func (ds *rawDataset) source() string {
	switch {
	case ds.File != nil:
		return "file"
	case ds.Dir != nil:
		return "dir"
	case ds.Bodies != nil:
		return "bodies"
	case ds.Rows != nil:
		return "rows"
	case ds.Prompts != nil:
		return "prompts"
	case ds.Command != nil:
		return "command"
	}
	return "generate"
}

// own is the key that makes a generator other than a distribution.
func (g *rawGenerator) own() string {
	for _, key := range [...]string{"length", "one_of", "file"} {
		if g.At.node.Entry(key) != nil {
			return key
		}
	}
	return ""
}

// flatten lists the elements of nested lists in row-major order.
func flatten(list []*rawElement) []any {
	var all []any
	for _, e := range list {
		if e.One != nil {
			all = append(all, e.One.V)
		}
		all = append(all, flatten(e.List)...)
	}
	return all
}

// sizes reads a shape. "3,640,640" and [3,640,640] are the same; text after a comma that is no number is a slip, such as
// two shapes in one text.
func (s *rawShape) sizes() ([]int64, *source.Diagnostic) {
	if s.Text == nil {
		var dims []int64
		for _, d := range s.Dims {
			dims = append(dims, d.V)
		}
		return dims, nil
	}
	const detail = "a shape is a list of integers, such as [3, 640, 640]"
	var dims []int64
	for _, part := range strings.Split(s.Text.V, ",") {
		n, err := strconv.ParseInt(strings.TrimSpace(part), 10, 64)
		if err != nil || utf8.RuneCountInString(part) > 20 {
			return nil, invalid(detail, "%q is no shape", s.Text.V)
		}
		dims = append(dims, n)
	}
	return dims, nil
}
