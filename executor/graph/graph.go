// Package graph implements a directed graph of names with a topological order, cycle detection, and
// drawings in Mermaid and DOT. It imports no other package of this module and knows nothing of
// stages.
package graph

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

// Add adds a node, unless there is one of that ID.
func (g *Graph) Add(n Node) {
	if _, ok := g.index[n.ID]; ok {
		return
	}
	if g.index == nil {
		g.index = make(map[string]int)
	}
	g.index[n.ID] = len(g.nodes)
	g.nodes = append(g.nodes, n)
	g.in, g.out = append(g.in, nil), append(g.out, nil)
}

// Connect adds an edge, unless one of its nodes does not exist.
func (g *Graph) Connect(e Edge) {
	from, leaves := g.index[e.From]
	to, enters := g.index[e.To]
	if leaves && enters {
		g.out[from], g.in[to] = append(g.out[from], len(g.edges)), append(g.in[to], len(g.edges))
		g.edges = append(g.edges, e)
	}
}

// Label sets the label of a node, if the node exists.
func (g *Graph) Label(id, label string) {
	if i, ok := g.index[id]; ok {
		g.nodes[i].Label = label
	}
}

// Incoming returns the edges that end at id, in the order in which they were added.
func (g *Graph) Incoming(id string) []Edge {
	var in []Edge
	if i, ok := g.index[id]; ok {
		for _, e := range g.in[i] {
			in = append(in, g.edges[e])
		}
	}
	return in
}

// Ancestors returns the nodes from which id, a node of g, can be reached.
func (g *Graph) Ancestors(id string) map[string]bool {
	found, todo := make(map[string]bool), []string{id}
	for len(todo) > 0 {
		at := g.index[todo[0]]
		todo = todo[1:]
		for _, e := range g.in[at] {
			if from := g.edges[e].From; !found[from] {
				found[from] = true
				todo = append(todo, from)
			}
		}
	}
	return found
}
