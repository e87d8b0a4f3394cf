package graph

import (
	"container/heap"
	"slices"
)

// Order is a sequence in which every node comes after those it waits for; among those that could be next, the one added
// first. When there is none, cycle is a closed path (its first name is its last).
func (g *Graph) Order() (order, cycle []string) {
	waits := make([]int, len(g.nodes))
	var ready queue
	for i := range g.nodes {
		if waits[i] = len(g.in[i]); waits[i] == 0 {
			ready = append(ready, i) // ascending: a heap already
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

// cycle walks backwards from a node that cannot start: each has a predecessor that cannot start either, so the walk
// must meet itself.
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

// queue gives the smallest number first.
type queue []int

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i] < q[j] }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)        { *q = append(*q, x.(int)) }

func (q *queue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}
