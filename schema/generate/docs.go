package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"

	"github.com/sluice-bench/sluice/scenario/source"
)

// doc holds the comment of a field: what the key means, and values that a plan could hold. A
// field of a generic struct has a second example, for types whose values have a unit.
type doc struct {
	description string
	examples    []string
}

// docs are the comments of the fields that are keys, by STRUCT.FIELD.
type docs map[string]doc

// readDocs reads the comments in the Go files of a folder. A comment is the description and, as its
// last line, `Example: VALUE`, or `Example: VALUE | VALUE WITH A UNIT`.
func readDocs(folder string) (docs, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("no Go files in %s: %w", folder, err)
	}
	all := docs{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			return nil, fmt.Errorf("read the language: %w", err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if s, ok := spec.Type.(*ast.StructType); ok {
				all.learn(spec.Name.Name, s)
			}
			return false
		})
	}
	return all, nil
}

func (d docs) learn(owner string, s *ast.StructType) {
	for _, f := range s.Fields.List {
		description, examples, found := strings.Cut(f.Doc.Text(), "Example: ")
		if !found || len(f.Names) != 1 {
			continue
		}
		d[owner+"."+f.Names[0].Name] = doc{
			strings.Join(strings.Fields(description), " "),
			strings.Split(strings.Join(strings.Fields(examples), " "), " | "),
		}
	}
}

// parse reads a value as a plan writes it, with the keys of maps in their order.
func parse(text string) any {
	root, found := source.Parse("value", []byte("value: "+text))
	if found.HasErrors() {
		panic(fmt.Sprintf("%s is no value: %v", text, found))
	}
	return ordered(root.Get("value"))
}

func ordered(n *source.Node) any {
	switch n.Kind {
	case source.Map:
		o := object{}
		for _, e := range n.Entries {
			o = append(o, member{e.Key, ordered(e.Value)})
		}
		return o
	case source.List:
		list := []any{}
		for _, item := range n.Items {
			list = append(list, ordered(item))
		}
		return list
	case source.Null, source.Scalar:
	}
	return n.JSON()
}
