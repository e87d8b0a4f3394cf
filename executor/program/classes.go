package program

import "github.com/sluice-bench/sluice/backends"

// checkClasses refuses classes in place of outputs where a target of the stage gives none, or the
// outputs lie in shared memory.
func checkClasses(d *draft, n *Node) {
	ability := backends.Classification.Names()[0]
	for i, e := range n.Stage.Entries() {
		for _, o := range e.Request.Outputs {
			k := n.entries[i]
			switch {
			case o.Classification == 0:
			case k != nil && k.lacks(ability) != "":
				d.fail(o.Pos, "no-classes",
					"%s", k.lacks(ability)).
					Detail = "remove `classification`: the output then comes whole"
			case n.Stage.Memory != nil:
				d.fail(o.Pos, "no-classes",
					"output %q is wanted as classes, which servers do not put into shared memory", o.Name).
					Detail = "remove `classification`, or `shared_memory`"
			}
		}
	}
}
