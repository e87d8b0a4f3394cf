package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/sluice-bench/sluice/"

// edges is who may import whom inside the module; what is not here is not allowed. Tests may import anything.
const edges = `
scenario/source         ->
scenario/metric         ->
scenario/regular        ->
schema                  -> scenario/source
schema/generate         ->
scenario/expression     -> scenario/metric scenario/source
scenario                -> scenario/source schema scenario/expression scenario/regular
scenario/convert        -> scenario/source scenario/regular
executor/graph          ->
executor/load           ->
executor/stats          ->
executor/feed           -> backends scenario scenario/source scenario/regular
executor/drive          -> backends executor/load executor/feed
executor/measure        -> backends scenario/metric executor/stats
executor/observe        -> backends backends/wire/netlane scenario/metric
executor/result         -> scenario/metric scenario/expression executor/stats
executor/verdict        -> scenario scenario/source scenario/expression scenario/metric executor/result executor/stats
executor/artifact       -> executor/result scenario/metric backends
executor                -> scenario scenario/source scenario/metric scenario/expression executor/graph executor/load executor/feed executor/drive executor/measure executor/observe executor/stats executor/result executor/verdict backends scenario/regular
backends                ->
backends/wire/http1     -> backends backends/wire/coding backends/wire/buffer
backends/wire/netlane   -> backends scenario/regular
backends/wire/http2     -> backends backends/wire/coding backends/wire/protow backends/wire/buffer
backends/wire/grpcraw   -> backends backends/wire/netlane backends/wire/http2 backends/wire/coding backends/wire/protow
backends/wire/buffer    ->
backends/wire/coding    -> backends/wire/buffer
backends/wire/sse       -> backends backends/wire/http1 backends/wire/buffer
backends/wire/protow    -> backends
backends/wire/shm       ->
backends/kserve         -> backends backends/wire/*
backends/triton         -> backends backends/wire/* backends/kserve
backends/wire/native    ->
backends/wire/cuda      -> backends/wire/native backends/wire/shm
backends/triton_inprocess -> backends backends/wire/* backends/kserve backends/triton scenario/regular
backends/tfserving      -> backends backends/wire/*
backends/torchserve     -> backends backends/wire/*
backends/openai         -> backends backends/wire/*
backends/grpc           -> backends backends/wire/*
backends/http           -> backends backends/wire/*
backends/all            -> backends backends/kserve backends/triton backends/triton_inprocess backends/tfserving backends/torchserve backends/openai backends/grpc backends/http
backends/builtin        -> backends/builtin/*
backends/builtin/*      ->
backends/backendtest    -> backends backends/builtin backends/backendtest/*
backends/backendtest/*  ->
cmd/sluice              -> *
`

// owners is which packages may import a third-party module.
const owners = `
gopkg.in/yaml.v3                          scenario/source
github.com/expr-lang/expr                 scenario/expression
github.com/santhosh-tekuri/jsonschema/v5  schema
github.com/HdrHistogram/hdrhistogram-go   executor/stats
github.com/olekukonko/tablewriter         executor/artifact
github.com/spf13/cobra                    cmd/sluice
github.com/spf13/pflag                    cmd/sluice
golang.org/x/term                         cmd/sluice
github.com/prometheus/common              executor/observe
github.com/prometheus/client_model        executor/observe
golang.org/x/text                         scenario/source
go.uber.org/goleak                        backends/backendtest
google.golang.org/grpc                    backends/wire/grpcraw backends/builtin backends/builtin/* testdata/bench/*
golang.org/x/net                          backends/wire/http2 backends/backendtest
google.golang.org/protobuf                backends/wire/* backends/builtin backends/builtin/* backends/kserve backends/triton testdata/bench/*
github.com/ebitengine/purego               backends/wire/native
golang.org/x/sys                          executor/drive backends/wire/* backends/builtin executor/observe testdata/bench/*
`

func TestImports(t *testing.T) {
	allowed, owned := table(edges), ownerTable()
	for file, pkg := range sources(t) {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		rule, ok := lookup(allowed, pkg)
		if !ok {
			t.Errorf("%s: package %s is not in the table of edges", file, pkg)
			continue
		}
		for _, spec := range parsed.Imports {
			name, _ := strconv.Unquote(spec.Path.Value)
			if inside, ours := strings.CutPrefix(name, module); ours {
				if inside != pkg && !matches(rule, inside) {
					t.Errorf("%s: %s may not import %s", file, pkg, inside)
				}
			} else if strings.Contains(strings.Split(name, "/")[0], ".") && !owns(owned, name, pkg) {
				t.Errorf("%s: %s may not import %s", file, pkg, name)
			}
		}
	}
}

// sources is every Go file that is no test, with its package's path in the module.
func sources(t *testing.T) map[string]string {
	t.Helper()
	root := filepath.Join("..", "..")
	files := make(map[string]string)
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && file != root && strings.HasPrefix(d.Name(), ".") {
			return filepath.SkipDir
		}
		if d.IsDir() && d.Name() == "testdata" { // test programs: not part of the module's packages
			return filepath.SkipDir
		}
		if strings.HasSuffix(file, ".go") && !strings.HasSuffix(file, "_test.go") {
			rel, err := filepath.Rel(root, filepath.Dir(file))
			files[file] = filepath.ToSlash(rel)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func table(text string) map[string][]string {
	rules := make(map[string][]string)
	for line := range strings.Lines(strings.TrimSpace(text)) {
		from, to, _ := strings.Cut(line, "->")
		rules[strings.TrimSpace(from)] = strings.Fields(to)
	}
	return rules
}

func ownerTable() map[string][]string {
	rules := make(map[string][]string)
	for line := range strings.Lines(strings.TrimSpace(owners)) {
		f := strings.Fields(line)
		rules[f[0]] = f[1:]
	}
	return rules
}

func lookup(rules map[string][]string, pkg string) ([]string, bool) {
	if r, ok := rules[pkg]; ok {
		return r, true
	}
	for from, r := range rules {
		if base, ok := strings.CutSuffix(from, "/*"); ok && strings.HasPrefix(pkg, base+"/") {
			return r, true
		}
	}
	return nil, false
}

func matches(rule []string, pkg string) bool {
	return slices.ContainsFunc(rule, func(r string) bool {
		base, wild := strings.CutSuffix(r, "/*")
		return r == pkg || r == "*" || wild && strings.HasPrefix(pkg, base+"/")
	})
}

func owns(owned map[string][]string, name, pkg string) bool {
	for mod, users := range owned {
		if name == mod || strings.HasPrefix(name, mod+"/") {
			return matches(users, pkg)
		}
	}
	return false
}

// TestTopLevel holds the fixed layout of the repository.
func TestTopLevel(t *testing.T) {
	want := []string{"LICENSE", "README.md", "backends", "cmd", "executor", "go.mod", "go.sum", "plans", "scenario", "schema", "testdata"}
	entries, err := filepath.Glob(filepath.Join("..", "..", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if name := path.Base(filepath.ToSlash(e)); !slices.Contains(want, name) && !strings.HasPrefix(name, ".") && name != "sluice-results" {
			t.Errorf("%s does not belong at the top of the repository", name)
		}
	}
}
