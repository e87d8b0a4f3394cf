package graph

import "slices"

// Order returns the nodes in topological order; among those that could be next, the one added
// first. If there is a cycle, order is nil and cycle a closed path (its first name is also its
// last).
func (g *Graph) Order() (order, cycle []string) {
	waits := make([]int, len(g.nodes))
	var ready []int // ascending
	for i := range g.nodes {
		if waits[i] = len(g.in[i]); waits[i] == 0 {
			ready = append(ready, i)
		}
	}
	for len(ready) > 0 {
		next := ready[0]
		ready = ready[1:]
		order = append(order, g.nodes[next].ID)
		for _, e := range g.out[next] {
			to := g.index[g.edges[e].To]
			if waits[to]--; waits[to] == 0 {
				at, _ := slices.BinarySearch(ready, to)
				ready = slices.Insert(ready, at, to)
			}
		}
	}
	if len(order) < len(g.nodes) {
		return nil, g.cycle(waits)
	}
	return order, nil
}

// cycle walks backwards from a node that cannot start: each has a predecessor that cannot start
// either, so the walk must return to a node it has seen.
func (g *Graph) cycle(waits []int) []string {
	at := slices.IndexFunc(waits, func(n int) bool { return n > 0 })
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
		for _, e := range g.in[at] {
			if from := g.index[g.edges[e].From]; waits[from] > 0 {
				at = from
				break
			}
		}
	}
}
