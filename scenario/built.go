package scenario

import (
	"slices"

	"github.com/sluice-bench/sluice/schema"
)

// Built keeps those of some names that this version can run: keys of the map at a path of the schema,
// or words of the key there.
func Built(path string, names []string) []string {
	p, _ := schema.Lookup(path)
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return !slices.Contains(p.Keys, name) && !slices.Contains(p.Allowed, name)
	})
}
