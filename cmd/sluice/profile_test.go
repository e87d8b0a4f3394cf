package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// profileLine matches a line of `go tool pprof -top` about a function of this module: its own time,
// its folder, and its name with the receiver's type. Closures and type arguments are left out.
var profileLine = regexp.MustCompile(`^\s*([0-9.]+)ms\s.* ` + regexp.QuoteMeta(module) +
	`([a-z0-9_/]+)\.(?:\(?\*?(\w+)\)?\.)?(\w+)`)

// TestProfile: the profile that `go build` optimizes for is of the code as it is. A function that is
// renamed drops out of it silently: that once cost 6 % of the CPU time of a request.
func TestProfile(t *testing.T) {
	const most = 0.1 // of the time in functions of this module
	out, err := exec.Command("go", "tool", "pprof", "-top", "-unit=ms", "-nodecount=1000000", "-nodefraction=0",
		"default.pgo").Output()
	if err != nil {
		t.Fatal(err)
	}
	known := functions(t)
	var all, gone float64
	var names []string
	for line := range strings.Lines(string(out)) {
		m := profileLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		ms, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		all += ms
		if !known[m[2]+"."+m[3]+"."+m[4]] && !known[m[2]+".."+m[3]] { // ..: a closure in a function
			gone += ms
			names = append(names, m[2]+"."+m[3]+"."+m[4])
		}
	}
	if all == 0 || gone > most*all {
		t.Errorf("default.pgo: %.0f of %.0f ms are of functions that no longer exist: run testdata/bench/profile.sh\n%s",
			gone, all, strings.Join(names, "\n"))
	}
}

// functions returns the functions and methods of this module, each as "folder.Type.name".
func functions(t *testing.T) map[string]bool {
	t.Helper()
	out, root := map[string]bool{}, filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return err
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		folder, err := filepath.Rel(root, filepath.Dir(file))
		for _, d := range parsed.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				out[path.Clean(filepath.ToSlash(folder))+"."+receiver(f)+"."+f.Name.Name] = true
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// receiver returns the name of the type of which f is a method, "" for a function.
func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	e := f.Recv.List[0].Type
	for {
		switch x := e.(type) {
		case *ast.StarExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.IndexListExpr:
			e = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}
