package executor

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/executor/result"
)

// TestFindingCodes: every code that a finding gets stands in the one table, and none stands there
// for nothing.
func TestFindingCodes(t *testing.T) {
	used := map[string]bool{}
	files, err := filepath.Glob("*.go")
	trials, err2 := filepath.Glob("trial/*.go")
	if err != nil || err2 != nil || len(files) == 0 || len(trials) == 0 {
		t.Fatal(err, err2)
	}
	constants := codeNames(t)
	for _, file := range append(files, trials...) {
		if !strings.HasSuffix(file, "_test.go") {
			usedCodes(t, file, constants, used)
		}
	}
	var codes []string
	for _, c := range result.FindingCodes() {
		codes = append(codes, c.Code)
		if !used[c.Code] {
			t.Errorf("no finding has the code %s", c.Code)
		}
		for _, text := range []string{c.Meaning, c.Do} {
			if !strings.HasSuffix(text, ".") || strings.ToUpper(text[:1]) != text[:1] {
				t.Errorf("%s: %q is no sentence", c.Code, text)
			}
		}
	}
	for code := range used {
		if !slices.Contains(codes, code) {
			t.Errorf("code %q of a finding is not in result.FindingCodes", code)
		}
	}
}

// usedCodes collects the codes of result that a file names, and those in calls of note, invalid, add
// and count, and in literals of Finding.
func usedCodes(t *testing.T, file string, constants map[string]string, used map[string]bool) {
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	code := func(e ast.Expr) {
		switch e := e.(type) {
		case *ast.BasicLit:
			if text, err := strconv.Unquote(e.Value); err == nil {
				used[text] = true
			}
		case *ast.SelectorExpr: // a constant, whether the table has its code or not
			if pkg, ok := e.X.(*ast.Ident); ok && pkg.Name == "result" && constants[e.Sel.Name] != "" {
				used[constants[e.Sel.Name]] = true
			}
		}
	}
	listed := func(text string) bool {
		return slices.ContainsFunc(result.FindingCodes(), func(c result.FindingCode) bool { return c.Code == text })
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if text := constants[n.Sel.Name]; listed(text) {
				used[text] = true
			}
		case *ast.CallExpr:
			name := ""
			switch f := n.Fun.(type) {
			case *ast.SelectorExpr:
				name = f.Sel.Name
			case *ast.Ident:
				name = f.Name
			}
			if slices.Contains([]string{"note", "invalid", "add", "count"}, name) && len(n.Args) >= 2 {
				code(n.Args[0])
			}
			if _, function := n.Fun.(*ast.Ident); function && name == "note" { // of a node
				code(n.Args[1])
			}
		case *ast.KeyValueExpr:
			if key, ok := n.Key.(*ast.Ident); ok && key.Name == "Code" && finding(n, parsed) {
				code(n.Value)
			}
		}
		return true
	})
}

// codeNames returns the texts of the constants of package result by their names: those of codes are among them.
func codeNames(t *testing.T) map[string]string {
	files, err := filepath.Glob("result/*.go")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Values) != 1 {
				return true
			}
			if lit, ok := spec.Values[0].(*ast.BasicLit); ok {
				if text, err := strconv.Unquote(lit.Value); err == nil {
					names[spec.Names[0].Name] = text
				}
			}
			return true
		})
	}
	return names
}

// finding reports whether a field stands in a literal of result.Finding.
func finding(kv *ast.KeyValueExpr, file *ast.File) (found bool) {
	ast.Inspect(file, func(n ast.Node) bool {
		lit, ok := n.(*ast.CompositeLit)
		if !ok || !slices.Contains(lit.Elts, ast.Expr(kv)) {
			return true
		}
		switch typ := lit.Type.(type) {
		case *ast.SelectorExpr:
			found = typ.Sel.Name == "Finding"
		case *ast.Ident:
			found = typ.Name == "Finding"
		}
		return true
	})
	return found
}
