package layer

import (
	"slices"

	"github.com/sluice-bench/sluice/scenario/language"
	"github.com/sluice-bench/sluice/scenario/source"
)

// eachStage replaces every stage of a list, those of groups included, by others.
func eachStage(stages *source.Node, replace func(*source.Node) []*source.Node) *source.Node {
	c := *stages
	c.Items = nil
	for _, item := range stages.Items {
		switch members := item.Get("parallel"); {
		case item.Kind != source.Map:
			c.Items = append(c.Items, item)
		case members == nil:
			c.Items = append(c.Items, replace(item)...)
		case members.Kind == source.List:
			c.Items = append(c.Items, with(item, "parallel", eachStage(members, replace)))
		default:
			c.Items = append(c.Items, item)
		}
	}
	return &c
}

// Stages returns the stages of a list, nil for none; the members of a group take its place.
func Stages(list *source.Node) (all []*source.Node) {
	if list != nil {
		eachStage(list, func(stage *source.Node) []*source.Node {
			all = append(all, stage)
			return nil
		})
	}
	return all
}

// stageIDs are the ids of a list of stages, those of groups included.
func stageIDs(stages *source.Node) (ids []string) {
	for _, stage := range Stages(stages) {
		if id := stage.Get("id"); id != nil {
			ids = append(ids, id.Text)
		}
	}
	return ids
}

// stages merges stages by id: a list, or a profile's map from id. Stages that are new follow the
// others; a map has none.
func (l layer) stages(under, over *source.Node) *source.Node {
	switch over.Kind {
	case source.Map:
		return l.stageMap(under, over)
	case source.List:
		return l.stageList(under, over)
	case source.Null, source.Scalar:
	}
	return over // its kind is reported
}

func (l layer) stageMap(under, over *source.Node) *source.Node {
	ids := stageIDs(under)
	for _, e := range over.Entries {
		path := "/stages" + source.JoinPointer(e.Key)
		switch {
		case !slices.Contains(ids, e.Key) && l.partial:
			under = appended(under, withID(e))
		case !slices.Contains(ids, e.Key):
			l.report(path, e, source.Errorf(source.CodeOverlay, "no stage has the id %q", e.Key).
				Among(source.Nearest(e.Key, ids), ids))
		case e.Value.Entry("parallel") != nil:
			l.report(path+"/parallel", *e.Value.Entry("parallel"),
				source.Errorf(source.CodeOverlay, "stage %q cannot become a group here", e.Key).
					Help("members of a group are changed by their own ids"))
		case e.Value.Get("id") != nil && e.Value.Get("id").Text != e.Key:
			l.report(path+"/id", *e.Value.Entry("id"),
				source.Errorf(source.CodeOverlay, "stage %q cannot get another id", e.Key).
					Help("leave `id` out"))
		default:
			under = l.stage(under, e.Key, e.Value)
		}
	}
	return under
}

// withID is a stage of a map of stages as a list has it.
func withID(e source.Entry) *source.Node {
	c := *e.Value
	if c.Kind == source.Map && c.Entry("id") == nil {
		c.Entries = append(
			[]source.Entry{{Key: "id", KeyPos: e.KeyPos, Value: source.Plain(e.Key, e.KeyPos)}},
			c.Entries...,
		)
	}
	return &c
}

// stage lays one stage over that with its id; null takes it out.
func (l layer) stage(under *source.Node, id string, over *source.Node) *source.Node {
	return eachStage(under, func(stage *source.Node) []*source.Node {
		if own := stage.Get("id"); own == nil || own.Text != id {
			return []*source.Node{stage}
		}
		if _, is := l.nulls[over]; is {
			l.nulls[over] = true
			return nil
		}
		return []*source.Node{l.over(stage, over, language.TypeOf[language.Stage]())}
	})
}

func (l layer) stageList(under, over *source.Node) *source.Node {
	for _, item := range over.Items {
		ids := stageIDs(under)
		switch id, members := item.Get("id"), item.Get("parallel"); {
		case members != nil && members.Kind == source.List:
			under = l.group(under, item, members)
		case id != nil && slices.Contains(ids, id.Text):
			under = l.stage(under, id.Text, item)
		default:
			under = appended(under, item)
		}
	}
	c := *under
	c.Pos = over.Pos
	return &c
}

// group lays a group over the one that has one of its members: members merge by id, new ones join, and
// what the group says itself is merged. A group of which nothing is known is new.
func (l layer) group(under, over, members *source.Node) *source.Node {
	ids := stageIDs(members)
	at := slices.IndexFunc(under.Items, func(item *source.Node) bool {
		return slices.ContainsFunc(stageIDs(
			&source.Node{Kind: source.List, Items: []*source.Node{item}},
		), func(id string) bool { return slices.Contains(ids, id) })
	})
	if at < 0 {
		return appended(under, over)
	}
	below := under.Items[at]
	others := &source.Node{Kind: source.List, Items: slices.Delete(slices.Clone(under.Items), at, at+1)}
	for _, id := range ids {
		if below.Get("parallel") == nil || slices.Contains(stageIDs(others), id) {
			l.report("/stages", *over.Entry("parallel"), source.Errorf(source.CodeOverlay,
				"stage %q is not in this group in the plan below", id).
				Help("change it by its id outside of a group"))
			return under
		}
	}
	group := *below
	group.Entries = nil
	for _, e := range below.Entries {
		if e.Key == "parallel" {
			e.Value = l.stageList(e.Value, members)
		} else if own := over.Entry(e.Key); own != nil {
			e = *own
		}
		group.Entries = append(group.Entries, e)
	}
	for _, e := range over.Entries {
		if below.Entry(e.Key) == nil {
			group.Entries = append(group.Entries, e)
		}
	}
	c := *under
	c.Items = slices.Clone(under.Items)
	c.Items[at] = &group
	return &c
}
