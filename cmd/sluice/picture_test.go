package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// node is a line of the README's picture: ID["PACKAGE, PACKAGE: TEXT"] --> ID & ID. A package that
// ends with /* stands for all below it.
type node struct {
	id, text string
	packages []string
	arrows   []string
}

var (
	picture  = regexp.MustCompile("(?ms)^```mermaid\nflowchart \\w+\n(.*?)^```$")
	nodeLine = regexp.MustCompile(`^\s+(\w+)\["([^":]+): ([^"]+)"\](?: --> (.+))?$`)
)

func (n node) String() string {
	line := "  " + n.id + `["` + strings.Join(n.packages, ", ") + ": " + n.text + `"]`
	if len(n.arrows) > 0 {
		line += " --> " + strings.Join(n.arrows, " & ")
	}
	return line
}

// holds reports whether a package belongs to the node.
func (n node) holds(pkg string) bool {
	return slices.ContainsFunc(n.packages, func(p string) bool {
		below, all := strings.CutSuffix(p, "*")
		return p == pkg || all && strings.HasPrefix(pkg, below)
	})
}

// TestPicture holds the README's picture of the packages against their imports: each package is in
// one node, and the arrows are the imports between nodes, without those that a longer way of arrows
// has too. UPDATE_README=1 writes the arrows.
func TestPicture(t *testing.T) {
	file := filepath.Join("..", "..", "README.md")
	readme, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	found := picture.FindSubmatch(readme)
	if found == nil {
		t.Fatal("the README has no picture: a block ```mermaid that begins with flowchart")
	}
	var nodes []node
	for line := range strings.Lines(string(found[1])) {
		m := nodeLine.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if m == nil {
			t.Fatalf("a line of the picture is not ID[\"PACKAGE: TEXT\"] --> ID & ID: %s", line)
		}
		n := node{id: m[1], text: m[3], packages: strings.Split(m[2], ", ")}
		if m[4] != "" {
			n.arrows = strings.Split(m[4], " & ")
		}
		nodes = append(nodes, n)
	}
	var b bytes.Buffer
	for i, want := range withArrows(t, nodes) {
		b.WriteString(want.String() + "\n")
		if nodes[i].String() != want.String() && os.Getenv("UPDATE_README") == "" {
			t.Errorf("the picture in the README: this line is\n%s\n(UPDATE_README=1 go test ./cmd/sluice -run "+
				"TestPicture writes it)", want)
		}
	}
	if os.Getenv("UPDATE_README") != "" && !t.Failed() {
		if err := os.WriteFile(file, bytes.Replace(readme, found[1], b.Bytes(), 1), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// withArrows returns the nodes with the arrows that the imports make.
func withArrows(t *testing.T, nodes []node) []node {
	t.Helper()
	packages, _ := imports(t, table(owners))
	index := make(map[string]int) // package → node
	for pkg, imported := range packages {
		for i, n := range nodes {
			if !n.holds(pkg) {
				continue
			}
			if _, twice := index[pkg]; twice {
				t.Errorf("the picture in the README has package %s twice", pkg)
			}
			index[pkg] = i
		}
		if _, ok := index[pkg]; !ok {
			t.Errorf("the picture in the README lacks package %s, which imports %v: add its name to a line, or a line",
				pkg, imported)
		}
	}
	direct := make([]map[int]bool, len(nodes))
	for i, n := range nodes {
		direct[i] = make(map[int]bool)
		for _, p := range n.packages {
			if one := (node{packages: []string{p}}); !one.holdsAny(packages) {
				t.Errorf("the picture in the README names package %s, which does not exist", p)
			}
		}
	}
	for pkg, imported := range packages {
		for _, other := range imported {
			if from, to := index[pkg], index[other]; from != to {
				direct[from][to] = true
			}
		}
	}
	want := slices.Clone(nodes)
	for i := range want {
		want[i].arrows = nil
		for to := range nodes {
			if direct[i][to] && !detour(direct, i, to) {
				want[i].arrows = append(want[i].arrows, nodes[to].id)
			}
		}
		if reaches(direct, i, i) {
			t.Errorf("the packages of the line %s and others import each other: split the line", nodes[i].id)
		}
	}
	return want
}

// holdsAny reports whether one of the packages belongs to the node.
func (n node) holdsAny(packages map[string][]string) bool {
	for pkg := range packages {
		if n.holds(pkg) {
			return true
		}
	}
	return false
}

// detour reports whether another way than the direct one leads from one node to another.
func detour(direct []map[int]bool, from, to int) bool {
	for next := range direct[from] {
		if next != to && reaches(direct, next, to) {
			return true
		}
	}
	return false
}

// reaches reports whether at least one arrow leads from one node to another.
func reaches(direct []map[int]bool, from, to int) bool {
	seen := make(map[int]bool)
	var walk func(int) bool
	walk = func(at int) bool {
		for next := range direct[at] {
			if next == to {
				return true
			}
			if !seen[next] {
				seen[next] = true
				if walk(next) {
					return true
				}
			}
		}
		return false
	}
	return walk(from)
}
