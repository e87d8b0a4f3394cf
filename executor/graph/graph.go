// Package graph is a directed graph of names: who comes after whom, in which order to go, where a cycle is, and how it
// looks in Mermaid and DOT. It imports nothing of ours.
//
// It is not: a scheduler; it does not know what a stage is.
package graph

import (
	"fmt"
	"slices"
	"strings"
)

// Graph keeps nodes and edges in the order in which they were added. The zero Graph is empty and ready.
type Graph struct {
	nodes []Node
	index map[string]int
	edges []Edge
}

// Node is a vertex: ID names it, Label says more about it ("rate 200/s, 60s").
type Node struct {
	ID    string
	Label string
}

// Edge says that To comes after From, under the condition When ("success", "failure", "always"), because of Reason.
type Edge struct {
	From, To string
	When     string
	Reason   string
}

// Add puts in a node. A second node of one name is refused.
func (g *Graph) Add(n Node) error {
	if _, ok := g.index[n.ID]; ok {
		return fmt.Errorf("two nodes are named %q", n.ID)
	}
	if g.index == nil {
		g.index = make(map[string]int)
	}
	g.index[n.ID] = len(g.nodes)
	g.nodes = append(g.nodes, n)
	return nil
}

// Connect puts in an edge between two nodes that exist.
func (g *Graph) Connect(e Edge) error {
	for _, id := range []string{e.From, e.To} {
		if _, ok := g.index[id]; !ok {
			return fmt.Errorf("there is no node %q", id)
		}
	}
	g.edges = append(g.edges, e)
	return nil
}

// Label says more about a node that exists.
func (g *Graph) Label(id, label string) {
	if i, ok := g.index[id]; ok {
		g.nodes[i].Label = label
	}
}

// Nodes are all nodes, as added.
func (g *Graph) Nodes() []Node { return g.nodes }

// Into are the edges that end at id.
func (g *Graph) Into(id string) []Edge {
	var in []Edge
	for _, e := range g.edges {
		if e.To == id {
			in = append(in, e)
		}
	}
	return in
}

// Order is a sequence in which every node comes after those it waits for; among those that could be next, the one added
// first. When there is none, cycle is a closed path (its first name is its last).
func (g *Graph) Order() (order, cycle []string) {
	waits := make([]int, len(g.nodes))
	for _, e := range g.edges {
		waits[g.index[e.To]]++
	}
	done := make([]bool, len(g.nodes))
	for len(order) < len(g.nodes) {
		next := -1
		for i := range g.nodes {
			if !done[i] && waits[i] == 0 {
				next = i
				break
			}
		}
		if next < 0 {
			return nil, g.cycle(done)
		}
		done[next] = true
		order = append(order, g.nodes[next].ID)
		for _, e := range g.edges {
			if e.From == g.nodes[next].ID {
				waits[g.index[e.To]]--
			}
		}
	}
	return order, nil
}

// cycle walks backwards from a node that cannot start: each has a predecessor that cannot start either, so the walk
// must meet itself.
func (g *Graph) cycle(done []bool) []string {
	at := 0
	for done[at] {
		at++
	}
	seen := make(map[int]int)
	var path []string
	for {
		if first, ok := seen[at]; ok {
			loop := append(path[first:], path[first])
			slices.Reverse(loop)
			return loop
		}
		seen[at] = len(path)
		path = append(path, g.nodes[at].ID)
		for _, e := range g.edges {
			if from := g.index[e.From]; g.nodes[at].ID == e.To && !done[from] {
				at = from
				break
			}
		}
	}
}

// Ancestors are the nodes that must have come before id.
func (g *Graph) Ancestors(id string) map[string]bool {
	found := make(map[string]bool)
	var visit func(string)
	visit = func(id string) {
		for _, e := range g.Into(id) {
			if !found[e.From] {
				found[e.From] = true
				visit(e.From)
			}
		}
	}
	visit(id)
	return found
}

// Mermaid is the graph as a Mermaid flow chart.
func (g *Graph) Mermaid() string {
	var b strings.Builder
	b.WriteString("flowchart TD\n")
	for i, n := range g.nodes {
		fmt.Fprintf(&b, "  n%d[\"%s\"]\n", i, mermaidText(n))
	}
	for _, e := range g.edges {
		fmt.Fprintf(&b, "  n%d -->|%s| n%d\n", g.index[e.From], e.When, g.index[e.To])
	}
	return b.String()
}

func mermaidText(n Node) string {
	text := n.ID
	if n.Label != "" {
		text += "<br/>" + n.Label
	}
	return strings.ReplaceAll(text, `"`, "#quot;")
}

// DOT is the graph in Graphviz's language.
func (g *Graph) DOT() string {
	var b strings.Builder
	b.WriteString("digraph plan {\n  node [shape=box];\n")
	for _, n := range g.nodes {
		fmt.Fprintf(&b, "  %q [label=%q];\n", n.ID, strings.TrimSuffix(n.ID+"\n"+n.Label, "\n"))
	}
	for _, e := range g.edges {
		fmt.Fprintf(&b, "  %q -> %q [label=%q];\n", e.From, e.To, e.When)
	}
	b.WriteString("}\n")
	return b.String()
}
