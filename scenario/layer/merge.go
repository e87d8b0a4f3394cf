package layer

import (
	"fmt"
	"slices"

	"github.com/sluice-bench/sluice/scenario/language"
	"github.com/sluice-bench/sluice/scenario/source"
)

// layers lays trees over each other by one rule, before anything is decoded: a base under a plan
// (`extends`), a plan under its profiles, `defaults` under each stage. The rule: maps merge; stages
// merge by id; anything else is replaced; naming a member of a union removes the others together with
// the options that fit only them; null removes a key; a scalar for a variable is its default.
type layers struct {
	names []string                // of what was merged, weakest first
	from  map[*source.Node]string // the layer that a value comes from; none: the plan itself
	// nulls are those that may remove a key, and whether they did. They stay in the tree until the
	// defaults are merged, because what they remove may come from there.
	nulls   map[*source.Node]bool
	diags   source.Diagnostics
	uppers  []upper        // trees that were laid over others
	covered []*source.Node // trees that something was laid over
	// partial: a base could not be read. What seems to change a stage that is not there is then the
	// stage, as far as it is known.
	partial bool
}

func newLayers() *layers {
	return &layers{from: map[*source.Node]string{}, nulls: map[*source.Node]bool{}}
}

// layer is one merge of a tree over another.
type layer struct {
	*layers
	path string // JSON pointer of the upper tree in its file
	// below: what is merged has the position of the lower tree: that of a stage is in the plan, not in
	// the profile that changes it. The defaults are the exception: a stage keeps its own.
	below bool
}

// over gives the tree under with the tree over laid on it, both of type t. Neither is changed.
func (l layer) over(under, over *source.Node, t language.Type) *source.Node {
	if _, is := l.nulls[over]; is {
		l.nulls[over] = true
		return over
	}
	if t == language.TypeOf[language.Var]() {
		under, over = longVariable(under, over)
	}
	if t.IsStages() && under.Kind == source.List {
		return l.stages(under, over)
	}
	t = t.AsMap()
	if under.Kind != source.Map || over.Kind != source.Map || !t.IsKnown() {
		return over
	}
	return l.maps(under, over, t)
}

func (l layer) maps(under, over *source.Node, t language.Type) *source.Node {
	c := *over
	if l.below {
		c.Pos, c.Anchor = under.Pos, under.Anchor
	}
	if t == language.TypeOf[language.Plan]() {
		over = l.oneForSeveral(under, over)
	}
	gone := t.Displaced(withValues(over, func(_ string, v *source.Node) *source.Node {
		if v.Kind == source.Null {
			return nil // it removes the key
		}
		return v
	}))
	c.Entries = nil
	for _, e := range under.Entries {
		switch upper := over.Entry(e.Key); {
		case gone[e.Key] && upper == nil:
			continue
		case upper != nil:
			value := l.over(e.Value, upper.Value, t.Key(e.Key))
			if !l.below || value.Pos != e.Value.Pos {
				e.KeyPos = upper.KeyPos
			}
			e.Value = value
		}
		c.Entries = append(c.Entries, e)
	}
	for _, e := range over.Entries {
		if under.Entry(e.Key) != nil {
			continue
		}
		if t.Key(e.Key).IsStages() && e.Value.Kind == source.Map { // of a profile
			e.Value = l.stages(&source.Node{Kind: source.List, Pos: e.Value.Pos}, e.Value)
		}
		c.Entries = append(c.Entries, e)
	}
	return &c
}

// oneForSeveral refuses `target` over `targets` and `data` over `datasets`: which of them is meant is
// not said.
func (l layer) oneForSeveral(under, over *source.Node) *source.Node {
	for _, pair := range [...][2]string{{"target", "targets"}, {"data", "datasets"}} {
		one, several := over.Entry(pair[0]), under.Get(pair[1])
		if one == nil || several == nil || several.Kind != source.Map || one.Value.Kind == source.Null {
			continue
		}
		names := keysOf(several)
		l.report("/"+pair[0], *one, source.Errorf(source.CodeOverlay,
			"`%s` over a plan with `%s`: say which of %s is meant",
			pair[0], pair[1], source.QuoteAll(names, "and")).
			Help(fmt.Sprintf("write %s: {NAME: …}", pair[1])).Among("", names))
		over = without(over, pair[0])
	}
	return over
}

// longVariable gives the declarations of a variable as maps. A scalar over a declaration is its
// default and leaves the type as it was, so that a slip in a profile cannot turn a duration into a
// number.
func longVariable(under, over *source.Node) (longUnder, longOver *source.Node) {
	long := func(n *source.Node) *source.Node {
		if n.Kind != source.Scalar {
			return n
		}
		return &source.Node{
			Kind: source.Map, Pos: n.Pos,
			Entries: []source.Entry{{Key: "default", KeyPos: n.Pos, Value: n}},
		}
	}
	longUnder, longOver = long(under), long(over)
	if before := longUnder.Get("default"); before != nil && before.Kind == source.Scalar &&
		longUnder.Get("type") == nil && longOver.Get("default") != nil && longOver.Get("type") == nil {
		word := source.Plain(typeOfForm(before), before.Pos)
		typed := *longOver // the profile itself stays as it is written
		longOver = &typed
		longOver.Entries = append(
			slices.Clone(longOver.Entries),
			source.Entry{Key: "type", KeyPos: before.Pos, Value: word},
		)
	}
	return longUnder, longOver
}

// report adds a mistake about a key of the upper tree.
func (l layer) report(path string, e source.Entry, d *source.Diagnostic) {
	l.diags = append(l.diags, d.AtKey(l.path+path, e.KeyPos, e.Key))
}

// learn notes which layer the values of a tree belong to, and which of its nulls may remove a key:
// those of maps, not those of lists.
func (l *layers) learn(n *source.Node, name string, removes bool) {
	if name != "" && l.from[n] == "" {
		l.from[n] = name
	}
	switch n.Kind {
	case source.Map:
		for _, e := range n.Entries {
			if e.Value.Kind == source.Null && removes {
				l.nulls[e.Value] = false
			}
			l.learn(e.Value, name, removes)
		}
	case source.List:
		for _, item := range n.Items {
			l.learn(item, name, removes && (item.Get("id") != nil || item.Get("parallel") != nil))
		}
	case source.Null, source.Scalar:
	}
}

// removed leaves out what was removed, and reports nulls that removed nothing.
func (l *layers) removed(n *source.Node) *source.Node {
	switch n.Kind {
	case source.Map:
		return withValues(n, func(_ string, v *source.Node) *source.Node {
			if _, is := l.nulls[v]; is {
				return nil
			}
			return l.removed(v)
		})
	case source.List:
		return withItems(n, func(_ int, item *source.Node) *source.Node { return l.removed(item) })
	case source.Null, source.Scalar:
	}
	return n
}

// idle reports the nulls of an upper tree that removed nothing. It comes after the defaults are merged.
func (l *layers) idle(n *source.Node, path string) {
	for _, e := range n.Entries {
		child := path + source.JoinPointer(e.Key)
		if removed, is := l.nulls[e.Value]; is && !removed {
			layer{layers: l}.report(child, e, source.Errorf(source.CodeOverlay,
				"null for `%s` removes nothing: it is not set here", e.Key).Help("leave the key out"))
		}
		l.idle(e.Value, child)
	}
	for i, item := range n.Items {
		l.idle(item, fmt.Sprintf("%s/%d", path, i))
	}
}

// inStages returns the plan with other stages in the place of each, those of groups included.
func inStages(root *source.Node, replace func(*source.Node) []*source.Node) *source.Node {
	stages := root.Get("stages")
	if stages == nil || stages.Kind != source.List {
		return root
	}
	return with(root, "stages", eachStage(stages, replace))
}

// mergeDefaults gives the plan with `defaults`, and under these its `validity`, merged under every stage.
func (l *layers) mergeDefaults(root *source.Node) *source.Node {
	keys := &source.Node{Kind: source.Map}
	if defaults := root.Get("defaults"); defaults != nil && defaults.Kind == source.Map {
		keys = l.stageKeys(defaults)
	}
	if own := root.Entry("validity"); own != nil && own.Value.Kind == source.Map {
		plans := &source.Node{Kind: source.Map, Entries: []source.Entry{*own}}
		keys = layer{layers: l}.over(plans, keys, language.TypeOf[language.Defaults]())
	}
	if len(keys.Entries) == 0 {
		return root
	}
	return inStages(root, func(stage *source.Node) []*source.Node {
		return []*source.Node{layer{layers: l}.over(keys, stage, language.TypeOf[language.Stage]())}
	})
}

// mergeMixes gives the plan with the request keys of every stage merged under the entries of its mix.
// Nulls are gone.
func (l *layers) mergeMixes(root *source.Node) *source.Node {
	return inStages(root, func(stage *source.Node) []*source.Node {
		mix := stage.Get("mix")
		if mix == nil || mix.Kind != source.Map {
			return []*source.Node{stage}
		}
		keys := withValues(&source.Node{Kind: source.Map, Entries: stage.Entries}, knownTo[language.Request])
		return []*source.Node{with(stage, "mix", withValues(mix, func(_ string, v *source.Node) *source.Node {
			return layer{layers: l}.over(keys, v, language.TypeOf[language.Mix]())
		}))}
	})
}

// knownTo leaves out the keys that T does not have.
func knownTo[T any](key string, v *source.Node) *source.Node {
	if language.TypeOf[T]().HasKey(key) {
		return v
	}
	return nil
}

// stageKeys leaves out the keys that `defaults` cannot hold; they are reported at their places.
func (l *layers) stageKeys(defaults *source.Node) *source.Node {
	keys := withValues(defaults, knownTo[language.Defaults])
	for _, e := range keys.Entries {
		l.fromDefaults(e.Value)
	}
	return keys
}

// fromDefaults notes that values reach their stages through the defaults.
func (l *layers) fromDefaults(n *source.Node) {
	name := "defaults"
	if l.from[n] != "" {
		name += ", " + l.from[n]
	}
	l.from[n] = name
	for _, e := range n.Entries {
		l.fromDefaults(e.Value)
	}
	for _, item := range n.Items {
		l.fromDefaults(item)
	}
}
