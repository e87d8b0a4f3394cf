package schema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/scenario/source"
)

// mostPlaces limits the places that a hint names: a key that more maps have was hardly meant for
// one of them.
const mostPlaces = 3

// elsewhere says where a key belongs that the map at this place does not have: one level deeper,
// beside a map that holds it, or at the only place that there is for it. "": that is not clear.
func (r *reporter) elsewhere(at []string, key string) string {
	base := r.keys(at)
	if len(base) > 1 && base[0] == "profiles" { // it has the keys of a plan, and stages by their ids
		base = base[2:]
		if len(base) > 1 && base[0] == "stages" {
			base = slices.Delete(base, 1, 2)
		}
	}
	var under []string
	for _, p := range properties() {
		if have := strings.Split(p.Path, "."); slices.Contains(p.Keys, key) &&
			!strings.HasPrefix(p.Type, "list") && matches(have[:len(have)-1], base) {
			under = append(under, last(have))
		}
	}
	if 0 < len(under) && len(under) <= mostPlaces {
		return fmt.Sprintf("It belongs under %s.", choice(under))
	}
	for n := len(base) - 1; n >= 0; n-- {
		outer := append(slices.Clone(base[:n]), key)
		if slices.ContainsFunc(properties(),
			func(p place) bool { return matches(strings.Split(p.Path, "."), outer) }) {
			return fmt.Sprintf("It belongs beside `%s`, not in it.", base[n])
		}
	}
	if only := onlyPlace(key); only != "" && only != strings.Join(base, ".") {
		return fmt.Sprintf("It is a key of `%s`.", only)
	}
	return ""
}

// onlyPlace is the map that a key belongs to where there is one alone, and its name is the language's.
func onlyPlace(key string) string {
	var in []string
	for _, p := range listed() {
		if at, ok := strings.CutSuffix(p.Path, "."+key); ok {
			in = append(in, at)
		}
	}
	if len(in) != 1 || strings.Contains(in[0], anyName) {
		return ""
	}
	return in[0]
}

// choice joins keys: `a`, `b` or `c`.
func choice(keys []string) string { return strings.ReplaceAll(source.QuoteAll(keys, "or"), `"`, "`") }

// asMap says how something is written that is no map here and must be one.
func (r *reporter) asMap(v violation, key string) string {
	if strings.HasPrefix(v.def, "levels_") && v.node.Kind == source.List && len(v.at) > 1 {
		above := v.at[len(v.at)-2]
		if values := flow(v.node); values != "" {
			return fmt.Sprintf("A list of values takes its place: %s: %s", above, values)
		}
	}
	if keys := r.keys(v.at); len(keys) == 3 && keys[0] == "profiles" && key == "stages" &&
		v.node.Kind == source.List {
		id := "steady"
		if len(v.node.Items) > 0 && v.node.Items[0].Get("id") != nil {
			id = v.node.Items[0].Get("id").Text
		}
		return fmt.Sprintf("A profile changes stages by their ids: stages: {%s: {for: 10s}}", id)
	}
	p, ok := Lookup(strings.Join(r.keys(v.at), "."))
	if !ok || len(p.Examples) == 0 || !strings.HasPrefix(p.Examples[0], "{") {
		return ""
	}
	return fmt.Sprintf("For example: %s: %s", key, p.Examples[0])
}

// flow is a list of scalars as it is written on one line; "": it holds something else.
func flow(list *source.Node) string {
	var texts []string
	for _, n := range list.Items {
		if n.Kind != source.Scalar || strings.ContainsAny(n.Text, ",[]{}#") {
			return ""
		}
		texts = append(texts, n.Text)
	}
	return "[" + strings.Join(texts, ", ") + "]"
}
