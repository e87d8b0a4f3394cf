// Package graph is a directed graph of names: who comes after whom, in which order to go, where a cycle is, and how it
// looks in Mermaid and DOT. It imports nothing of ours.
//
// It is not: a scheduler; it does not know what a stage is.
package graph

import "fmt"

// Graph keeps nodes and edges in the order in which they were added. The zero Graph is empty and ready.
type Graph struct {
	nodes   []Node
	index   map[string]int
	edges   []Edge
	in, out [][]int // edges by node
}

// Node is a vertex: ID names it, Label says more about it ("rate 200/s, 60s"). Nodes of one Group are drawn in one frame;
// they follow each other. "" is none.
type Node struct {
	ID    string
	Label string
	Group string
}

// Edge says that To comes after From, under the condition When ("success", "failure", "always"), because of Reason. An
// edge that Reads stands for a number that To takes from From; it has no condition.
type Edge struct {
	From, To string
	When     string
	Reason   string
	Reads    bool
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
	g.in, g.out = append(g.in, nil), append(g.out, nil)
	return nil
}

// Connect puts in an edge between two nodes that exist.
func (g *Graph) Connect(e Edge) error {
	for _, id := range []string{e.From, e.To} {
		if _, ok := g.index[id]; !ok {
			return fmt.Errorf("there is no node %q", id)
		}
	}
	from, to := g.index[e.From], g.index[e.To]
	g.out[from], g.in[to] = append(g.out[from], len(g.edges)), append(g.in[to], len(g.edges))
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

// Into are the edges that end at id, as added.
func (g *Graph) Into(id string) []Edge {
	i, ok := g.index[id]
	if !ok {
		return nil
	}
	var in []Edge
	for _, e := range g.in[i] {
		in = append(in, g.edges[e])
	}
	return in
}

// Ancestors are the nodes that must have come before id.
func (g *Graph) Ancestors(id string) map[string]bool {
	found := make(map[string]bool)
	at, ok := g.index[id]
	if !ok {
		return found
	}
	seen, todo := make([]bool, len(g.nodes)), []int{at}
	for len(todo) > 0 {
		at, todo = todo[len(todo)-1], todo[:len(todo)-1]
		for _, e := range g.in[at] {
			if from := g.index[g.edges[e].From]; !seen[from] {
				seen[from] = true
				found[g.nodes[from].ID] = true
				todo = append(todo, from)
			}
		}
	}
	return found
}
