package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/sluice-bench/sluice/"

// edges lists the imports inside the module: for each package those that its files name, tests
// aside. A line that begins with a tab continues the one above. The table is exact: an import that
// it lacks fails, and so does an entry that no file needs any more.
const edges = `
backends -> backends/tensor
backends/all -> backends backends/grpc backends/http backends/kserve backends/openai
	backends/tfserving backends/torchserve backends/triton backends/triton_inprocess
backends/backendtest -> backends backends/backendtest/cases backends/tensor
backends/backendtest/cases ->
backends/backendtest/cudatest ->
backends/builtin -> backends/builtin/internal/kservepb backends/builtin/internal/llm
backends/builtin/internal/kservepb ->
backends/builtin/internal/llm ->
backends/grpc -> backends backends/wire/endpoint backends/wire/grpcraw backends/wire/protow
	scenario/regular
backends/http -> backends backends/wire/buffer backends/wire/coding backends/wire/endpoint
	backends/wire/http1 backends/wire/jsonscan backends/wire/sse
backends/kserve -> backends backends/http backends/tensor backends/wire/coding backends/wire/endpoint
	backends/wire/grpcraw backends/wire/http1 backends/wire/jsonscan backends/wire/protow
	backends/wire/sse
backends/openai -> backends backends/tensor backends/wire/endpoint backends/wire/http1
	backends/wire/jsonscan backends/wire/sse
backends/tensor ->
backends/tfserving -> backends backends/http backends/kserve backends/tensor backends/wire/endpoint
	backends/wire/grpcraw backends/wire/jsonscan backends/wire/protow
backends/torchserve -> backends backends/http backends/wire/endpoint backends/wire/grpcraw
	backends/wire/jsonscan backends/wire/protow
backends/triton -> backends backends/kserve backends/tensor backends/wire/cuda
	backends/wire/endpoint backends/wire/jsonscan backends/wire/protow backends/wire/shm
backends/triton_inprocess -> backends backends/kserve backends/tensor backends/triton
	backends/wire/native scenario/regular
backends/wire/buffer ->
backends/wire/coding -> backends/wire/buffer
backends/wire/cuda -> backends/wire/native backends/wire/shm
backends/wire/endpoint -> backends backends/wire/grpcraw backends/wire/http1 backends/wire/netlane
	backends/wire/tlsconf
backends/wire/grpcraw -> backends backends/wire/coding backends/wire/http2 backends/wire/netlane
	backends/wire/protow
backends/wire/http1 -> backends backends/wire/buffer backends/wire/coding
backends/wire/http2 -> backends backends/wire/buffer backends/wire/coding backends/wire/protow
backends/wire/jsonscan ->
backends/wire/native ->
backends/wire/netlane -> backends
backends/wire/protow -> backends
backends/wire/shm ->
backends/wire/sse -> backends/wire/buffer
backends/wire/tlsconf -> backends scenario/regular
cmd/sluice -> backends backends/all backends/builtin backends/tensor executor executor/artifact
	executor/artifact/llm executor/calibration executor/program executor/result executor/stats executor/trial
	executor/verdict scenario scenario/convert scenario/convert/modelanalyzer scenario/convert/secret
	scenario/convert/shell scenario/expression scenario/metric
	scenario/regular scenario/source schema
executor -> backends backends/tensor executor/delay executor/drive executor/feed executor/feed/format
	executor/load executor/measure executor/observe executor/program executor/result executor/trial executor/verdict scenario
	scenario/expression
	scenario/metric scenario/source
executor/artifact -> backends backends/tensor executor/artifact/clean executor/artifact/llm
	executor/artifact/perfanalyzer executor/result scenario/metric
executor/artifact/clean ->
executor/artifact/llm -> executor/artifact/clean executor/result executor/stats scenario/metric scenario/regular scenario/source
executor/artifact/perfanalyzer -> executor/artifact/clean executor/result scenario/metric
executor/calibration -> executor/result scenario/metric scenario/regular
executor/delay ->
executor/drive -> backends executor/delay executor/feed executor/load
executor/feed -> backends backends/tensor backends/wire/jsonscan executor/feed/format executor/feed/prompt
	scenario scenario/regular scenario/source
executor/feed/format -> backends backends/tensor backends/wire/jsonscan scenario scenario/regular
	scenario/source
executor/feed/prompt -> backends
executor/graph ->
executor/load ->
executor/measure -> backends executor/delay executor/stats scenario/metric
executor/observe -> backends backends/wire/tlsconf scenario/metric
executor/program -> backends executor/feed executor/feed/format executor/graph executor/load
	executor/measure executor/observe executor/result executor/tokenizer executor/verdict scenario
	scenario/expression scenario/language scenario/metric scenario/regular scenario/source
executor/result -> executor/delay executor/stats scenario/expression scenario/metric
executor/stats ->
executor/stats/statstest ->
executor/tokenizer -> scenario/regular
executor/trial -> backends executor/delay executor/drive executor/feed executor/load
	executor/measure executor/observe executor/program executor/result executor/stats executor/verdict
	scenario scenario/expression scenario/metric scenario/source
executor/verdict -> executor/result executor/stats scenario scenario/expression scenario/metric
	scenario/source
scenario -> scenario/expression scenario/language scenario/layer scenario/regular scenario/source
	schema
scenario/convert -> scenario/convert/plantext scenario/convert/pyyaml scenario/convert/secret
	scenario/convert/shell scenario/language scenario/metric scenario/regular scenario/source
scenario/convert/modelanalyzer -> scenario/convert/plantext scenario/convert/pyyaml
	scenario/convert/secret scenario/source
scenario/convert/plantext ->
scenario/convert/pyyaml -> scenario/source
scenario/convert/secret -> scenario/convert/plantext scenario/convert/shell
scenario/convert/shell ->
scenario/expression -> scenario/metric scenario/source
scenario/language -> scenario/source
scenario/layer -> scenario/expression scenario/language scenario/regular scenario/source
scenario/metric ->
scenario/regular ->
scenario/source ->
schema -> scenario/language scenario/source
schema/generate -> scenario/language scenario/source
`

// owners lists the third-party modules, and for each the packages that import it, in the same form
// and as exactly.
const owners = `
github.com/HdrHistogram/hdrhistogram-go -> executor/stats
github.com/ebitengine/purego -> backends/wire/native
github.com/bufbuild/protocompile -> backends/grpc backends/triton
github.com/expr-lang/expr -> scenario/expression
github.com/olekukonko/tablewriter -> executor/artifact
github.com/prometheus/client_model -> executor/observe
github.com/prometheus/common -> executor/observe
github.com/santhosh-tekuri/jsonschema/v5 -> schema
github.com/spf13/cobra -> cmd/sluice
github.com/spf13/pflag -> cmd/sluice
go.uber.org/goleak -> backends/backendtest
golang.org/x/net -> backends/backendtest backends/wire/http1 backends/wire/http2
golang.org/x/sys -> backends/builtin backends/wire/shm executor/drive
golang.org/x/term -> cmd/sluice
golang.org/x/text -> executor/tokenizer scenario/source
google.golang.org/grpc -> backends/builtin backends/builtin/internal/kservepb
	backends/wire/grpcraw backends/wire/http2
google.golang.org/protobuf -> backends/builtin backends/builtin/internal/kservepb
	backends/grpc backends/tfserving backends/triton backends/wire/grpcraw backends/wire/protow
gopkg.in/yaml.v3 -> scenario/source
`

func TestImports(t *testing.T) {
	inside, outside := imports(t, table(owners))
	compareTables(t, "edges", table(edges), inside)
	compareTables(t, "owners", table(owners), outside)
}

// imports reads the imports of all files that are no tests: those inside the module by importing
// package, and those of other modules by module. A module is the longest key of modules that begins
// the import's path, or else the path.
func imports(t *testing.T, modules map[string][]string) (inside, outside map[string][]string) {
	t.Helper()
	inside, outside = make(map[string][]string), make(map[string][]string)
	add := func(rules map[string][]string, key, value string) {
		if !slices.Contains(rules[key], value) {
			rules[key] = append(rules[key], value)
		}
	}
	for file, pkg := range sources(t) {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := inside[pkg]; !ok {
			inside[pkg] = nil
		}
		for _, spec := range parsed.Imports {
			name, _ := strconv.Unquote(spec.Path.Value)
			if other, ok := strings.CutPrefix(name, module); ok {
				add(inside, pkg, other)
			} else if strings.Contains(strings.Split(name, "/")[0], ".") {
				add(outside, moduleOf(name, modules), pkg)
			}
		}
	}
	return inside, outside
}

func moduleOf(name string, modules map[string][]string) string {
	longest := name
	for mod := range modules {
		if strings.HasPrefix(name, mod+"/") && (longest == name || len(mod) > len(longest)) {
			longest = mod
		}
	}
	return longest
}

// compareTables reports every difference between a table above and the code, as the line to write there.
func compareTables(t *testing.T, name string, have, want map[string][]string) {
	t.Helper()
	keys := slices.Sorted(maps.Keys(have))
	for key := range want {
		if _, ok := have[key]; !ok {
			keys = append(keys, key)
		}
	}
	for _, key := range keys {
		list, exists := want[key]
		if !exists {
			t.Errorf("%s: remove the line %q: there is no such package or import", name, key)
			continue
		}
		slices.Sort(list)
		if listed, ok := have[key]; !ok || !slices.Equal(slices.Sorted(slices.Values(listed)), list) {
			t.Errorf("%s: the table lacks %v and has too many of %v; the line is\n%s -> %s",
				name, without(list, listed), without(listed, list), key, strings.Join(list, " "))
		}
	}
}

// without returns the elements of a that b does not have.
func without(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return slices.Contains(b, s) })
}

// sources returns every Go file that is no test, with its package's path in the module.
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

// table parses edges or owners.
func table(text string) map[string][]string {
	rules := make(map[string][]string)
	for line := range strings.Lines(strings.ReplaceAll(strings.TrimSpace(text), "\n\t", " ")) {
		from, to, _ := strings.Cut(line, "->")
		rules[strings.TrimSpace(from)] = strings.Fields(to)
	}
	return rules
}

// TestTopLevel holds the fixed layout of the repository.
func TestTopLevel(t *testing.T) {
	want := []string{
		"LICENSE", "README.md", "backends", "cmd", "executor", "go.mod", "go.sum", "plans",
		"scenario", "schema", "testdata",
	}
	entries, err := filepath.Glob(filepath.Join("..", "..", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		name := path.Base(filepath.ToSlash(e))
		if !slices.Contains(want, name) && !strings.HasPrefix(name, ".") && name != "sluice-results" {
			t.Errorf("%s does not belong at the top of the repository", name)
		}
	}
}

// TestRowNames: names of metrics stand in the catalogue. Outside it only the layout of
// perf_analyzer's CSV, which others fixed, and the table that ties rows to samples may spell them;
// everybody else uses a constant or a loop.
func TestRowNames(t *testing.T) {
	// there a plan key
	spelled := []string{
		"scenario/metric/", "executor/artifact/perfanalyzer",
		"executor/measure/rows.go", "executor/measure/tokens.go", "schema/generate/",
	}
	var names []string
	for _, r := range metrics() {
		if strings.Contains(r.Name, ".") || strings.Contains(r.Name, "_") || r.Name == "latency" {
			names = append(names, r.Name) // throughput and connect are also plain words
		}
	}
	for file := range sources(t) {
		path := strings.TrimPrefix(file, "../../")
		if slices.ContainsFunc(spelled, func(p string) bool { return strings.HasPrefix(path, p) }) {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if text, _ := strconv.Unquote(lit.Value); slices.Contains(names, text) {
					t.Errorf("%s spells the metric %q: use a constant of scenario/metric", path, text)
				}
			}
			return true
		})
	}
}
