package graph

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// build reads "a b c; a>b b>c": nodes, then edges.
func build(t *testing.T, text string) *Graph {
	t.Helper()
	g := new(Graph)
	nodes, edges, _ := strings.Cut(text, ";")
	for _, id := range strings.Fields(nodes) {
		g.Add(Node{ID: id})
	}
	for _, e := range strings.Fields(edges) {
		from, to, _ := strings.Cut(e, ">")
		g.Connect(Edge{From: from, To: to, When: "success", Reason: "needs"})
	}
	return g
}

func TestOrder(t *testing.T) {
	for _, c := range []struct{ graph, order, cycle string }{
		{"", "", ""},
		{"a b c", "a b c", ""},                        // no edges: the list decides
		{"a b c; a>b b>c", "a b c", ""},               // as written
		{"c b a; a>b b>c", "a b c", ""},               // edges beat the list
		{"a b c d; a>d", "a b c d", ""},               // ties by the list
		{"a b c d; d>a", "b c d a", ""},               //
		{"a b c d; a>b a>c b>d c>d", "a b c d", ""},   // diamond
		{"a; a>a", "", "a a"},                         // itself
		{"a b; a>b b>a", "", "b a b"},                 //
		{"x a b c; x>a a>b b>c c>a", "", "b c a b"},   // the way in is not part of it
		{"a b c d; a>b b>a c>d d>c b>c", "", "b a b"}, // two cycles: the first found
		{"a b y; a>b b>a b>y", "", "b a b"},           // what hangs on it is not named
		{"y a b; a>b b>a b>y", "", "b a b"},           // … wherever the list has it
		{"a b c; a>b a>b b>c", "a b c", ""},           // double edges
	} {
		order, cycle := build(t, c.graph).Order()
		if got := strings.Join(order, " "); got != c.order {
			t.Errorf("%s: order %q, want %q", c.graph, got, c.order)
		}
		if c.cycle == "" != (cycle == nil) {
			t.Errorf("%s: cycle %q, want %q", c.graph, cycle, c.cycle)
		}
		if cycle != nil && !closed(build(t, c.graph), cycle) {
			t.Errorf("%s: %q is no closed path", c.graph, cycle)
		}
		if cycle != nil && len(cycle) != len(strings.Fields(c.cycle)) {
			t.Errorf("%s: cycle %q, want one as long as %q", c.graph, cycle, c.cycle)
		}
	}
}

func closed(g *Graph, path []string) bool {
	if path[0] != path[len(path)-1] {
		return false
	}
	for i := range len(path) - 1 {
		found := false
		for _, e := range g.Incoming(path[i+1]) {
			found = found || e.From == path[i]
		}
		if !found {
			return false
		}
	}
	return true
}

func TestIgnored(t *testing.T) {
	g := build(t, "a b; a>nowhere nowhere>b")
	g.Add(Node{ID: "a", Label: "second"})
	if n := g.nodes; len(n) != 2 || n[0].Label != "" {
		t.Errorf("nodes %v: a second a was taken", n)
	}
	if in := g.Incoming("b"); in != nil || g.Incoming("nowhere") != nil {
		t.Errorf("edges %v: one from nowhere was taken", in)
	}
}

func TestAncestors(t *testing.T) {
	got := build(t, "a b c d e; a>b b>c d>c c>e").Ancestors("c")
	if diff := cmp.Diff(map[string]bool{"a": true, "b": true, "d": true}, got); diff != "" {
		t.Error(diff)
	}
}

func TestPrinters(t *testing.T) {
	g := new(Graph)
	for _, n := range []Node{
		{ID: "sweep[concurrency=1]", Label: `say "x" & #1 < 2`},
		{ID: "a", Group: "together"},
		{ID: "b", Group: "together", Label: `back\slash`},
		{ID: "c", Group: "also together"},
		{ID: "last"},
	} {
		g.Add(n)
	}
	for _, e := range []Edge{
		{From: "sweep[concurrency=1]", To: "a", When: "always", Reason: "the entry before"},
		{From: "b", To: "c", When: "success", Reason: "needs"},
		{From: "a", To: "last", Reason: "its rate", Reads: true},
	} {
		g.Connect(e)
	}
	mermaid := `flowchart TD
  n0["sweep[concurrency=1]<br/>say #quot;x#quot; #amp; #35;1 #lt; 2"]
  subgraph g1["together"]
    n1["a"]
    n2["b<br/>back\slash"]
  end
  subgraph g3["also together"]
    n3["c"]
  end
  n4["last"]
  n0 -->|"always"| n1
  n2 -->|"success"| n3
  n1 -.->|"its rate"| n4
`
	dot := `digraph plan {
  node [shape=box];
  "sweep[concurrency=1]" [label="sweep[concurrency=1]\nsay \"x\" & #1 < 2"];
  subgraph cluster_1 {
    label="together";
    "a" [label="a"];
    "b" [label="b\nback\\slash"];
  }
  subgraph cluster_3 {
    label="also together";
    "c" [label="c"];
  }
  "last" [label="last"];
  "sweep[concurrency=1]" -> "a" [label="always"];
  "b" -> "c" [label="success"];
  "a" -> "last" [label="its rate", style=dashed];
}
`
	if diff := cmp.Diff(mermaid, g.Mermaid()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(dot, g.DOT()); diff != "" {
		t.Error(diff)
	}
}

func BenchmarkLadder(b *testing.B) {
	const n = 500
	id := func(i int) string { return "n" + strconv.Itoa(i) }
	for b.Loop() {
		g := new(Graph)
		for i := range n {
			g.Add(Node{ID: id(i)})
			if i > 0 {
				g.Connect(Edge{From: id(i - 1), To: id(i)})
			}
		}
		order, _ := g.Order()
		if len(order) != n || len(g.Ancestors(id(n-1))) != n-1 {
			b.Fatal("wrong order")
		}
	}
}
