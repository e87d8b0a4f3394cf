// Package graph implements a directed graph of names with a topological order, cycle detection, and
// drawings in Mermaid and DOT. It imports no other package of this module and knows nothing of
// stages.
package graph

import "fmt"

// Graph keeps nodes and edges in the order in which they were added. The zero Graph is empty and
// ready to use.
type Graph struct {
	nodes   []Node
	index   map[string]int
	edges   []Edge
	in, out [][]int // indexes of edges, by node
}

// Node is a vertex: ID names it, Label describes it ("rate 200/s, 60s"). Nodes of one Group, if
// any, are drawn in one frame and must be added consecutively.
type Node struct {
	ID    string
	Label string
	Group string
}

// Edge says that To comes after From, under the condition When ("success", "failure", "always"),
// because of Reason. With Reads, To takes a number from From; such an edge has no condition.
type Edge struct {
	From, To string
	When     string
	Reason   string
	Reads    bool
}

// Add adds a node. It returns an error if the ID exists.
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

// Connect adds an edge. It returns an error if one of its nodes does not exist.
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

// Label sets the label of a node, if the node exists.
func (g *Graph) Label(id, label string) {
	if i, ok := g.index[id]; ok {
		g.nodes[i].Label = label
	}
}

// Nodes returns all nodes in the order in which they were added.
func (g *Graph) Nodes() []Node { return g.nodes }

// Incoming returns the edges that end at id, in the order in which they were added.
func (g *Graph) Incoming(id string) []Edge {
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

// Ancestors returns the nodes from which id can be reached.
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
