package graph

import (
	"container/heap"
	"slices"
)

// Order returns the nodes in topological order; among those that could be next, the one added
// first. If there is a cycle, order is nil and cycle a closed path (its first name is also its
// last).
func (g *Graph) Order() (order, cycle []string) {
	waits := make([]int, len(g.nodes))
	var ready intHeap
	for i := range g.nodes {
		if waits[i] = len(g.in[i]); waits[i] == 0 {
			ready = append(ready, i) // ascending, so already a heap
		}
	}
	for ready.Len() > 0 {
		next := heap.Pop(&ready).(int)
		order = append(order, g.nodes[next].ID)
		for _, e := range g.out[next] {
			to := g.index[g.edges[e].To]
			if waits[to]--; waits[to] == 0 {
				heap.Push(&ready, to)
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

// intHeap is a min-heap for container/heap.
type intHeap []int

func (q intHeap) Len() int           { return len(q) }
func (q intHeap) Less(i, j int) bool { return q[i] < q[j] }
func (q intHeap) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *intHeap) Push(x any)        { *q = append(*q, x.(int)) }

func (q *intHeap) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}
