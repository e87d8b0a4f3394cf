package scenario

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/scenario/source"
)

func (c *checker) stages() {
	first := map[string]source.Pos{}
	running := false
	for _, s := range c.raw.flat {
		if s.ID != nil && !c.again(s) {
			if at, twice := first[s.ID.V]; twice {
				c.at(s.ID.at, &source.Diagnostic{
					Code: codeDuplicate, Summary: fmt.Sprintf("duplicate stage %q; the first is at %d:%d", s.ID.V, at.Line, at.Column),
				})
			} else {
				first[s.ID.V] = s.ID.at.pos()
			}
		}
		running = running || !s.never()
		c.stage(s)
	}
	c.checkStatuses()
	c.groups()
	switch n := c.raw.At.node.Get("stages"); {
	case n == nil || c.doubtful("/stages"):
	case len(c.raw.Stages) == 0:
		c.under(c.raw.At, "stages", &source.Diagnostic{Code: codeMissing, Summary: "the plan has no stages"})
	case !running:
		c.under(c.raw.At, "stages", &source.Diagnostic{Code: codeMissing, Summary: "no stage ever runs: each has `when: never`"})
	}
	c.assertionIDs()
}

// again reports whether the stage is another point of the one before.
func (c *checker) again(s *rawStage) bool {
	p := c.values.pointOf(s.At.node)
	return p != nil && !p.first
}

func (c *checker) stage(s *rawStage) {
	c.load(s)
	c.request(s, s.At, s.Play.Request, s.Mix == nil)
	c.mix(s)
	c.checkNeeds(s.Needs, s, s.group)
	c.extent(s)
	c.sequences(s)
	c.memory(s.Play.Memory)
	c.assertions(s)
}

// memory refuses what one kind of shared memory has and another has not.
func (c *checker) memory(m *rawMemory) {
	if m != nil && m.Kind != nil && m.Kind.V == "system" && m.Device.or(0) != 0 {
		c.under(m.At, "device", &source.Diagnostic{
			Code: codeDoesNotFit, Summary: "\"device\" does not fit `kind: system`", Detail: "it chooses the GPU of `kind: cuda`; memory of the system has none",
		})
	}
}

// request checks what is asked for: target and dataset by name, and that some model is named. at is the stage or the entry
// of its mix; whole: the entry says everything itself.
func (c *checker) request(s *rawStage, at place, r rawRequest, whole bool) {
	c.headers(r.Headers)
	c.shapes(r.Shapes)
	c.outputs(r.Outputs)
	c.expect(r.Expect)
	if !whole {
		return // its entries say what it leaves open, and repeat what it does not
	}
	target := findTarget(c, at, r.Target)
	c.useStatuses(r.Expect, target)
	if _, wrong := pick(c.datasets(), r.Data, "main"); wrong != nil && !c.known["/datasets"] && !c.known["/data"] {
		about(wrong, "dataset", "data")
		c.where(at, r.Data, wrong)
	}
	if target == nil || s.never() || !c.absent(at, "model") || !c.absent(target.At, "model") || c.modelless[target] || !needsModel(target) {
		return
	}
	c.modelless[target] = true // one stage is enough
	c.at(target.At, &source.Diagnostic{
		Code: codeMissing, Summary: fmt.Sprintf("no \"model\" here, and %s names none", subject(s.At.node, s.At.path)),
		Detail: "add `model: NAME` to the target",
	})
}

// outputs refuses an output that is asked for twice.
func (c *checker) outputs(list []*rawOutputWanted) {
	var names []*val[string]
	for _, o := range list {
		if o.Name != nil {
			names = append(names, o.Name)
		}
	}
	c.unique(names, "output")
}

// expect refuses to compare nothing, and paths that lead nowhere.
func (c *checker) expect(x *rawExpect) {
	if x == nil {
		return
	}
	if x.Sample != nil && x.Sample.V == 0 && x.At.node.Entry("sample") != nil {
		c.at(x.Sample.at, &source.Diagnostic{Code: codeRange, Summary: "\"sample\" must be above 0%", Detail: "to compare no outputs write `outputs: false`"})
	}
	for _, f := range x.Fields.items() {
		if slices.Contains(strings.Split(f.Key, "."), "") {
			c.under(x.Fields.At, f.Key, invalid("a path is names and indexes with dots between them, such as outputs.0.datatype", "%q is no path", f.Key))
		}
	}
}

func findTarget(c *checker, at place, name *val[string]) *rawTarget {
	t, wrong := pick(c.targets(), name, "")
	if wrong != nil && !c.known["/targets"] && !c.known["/target"] {
		about(wrong, "target", "target")
		c.where(at, name, wrong)
	}
	return t
}

// where reports a mistake at a value, or at the map that lacks it.
func (c *checker) where(lacks place, v *val[string], m *source.Diagnostic) {
	switch {
	case v != nil:
		c.at(v.at, m)
	case !c.doubtful(lacks.path):
		c.at(lacks, m)
	}
}

// about words the mistake of pick.
func about(m *source.Diagnostic, what, key string) {
	if m.Summary == "" {
		m.Summary = fmt.Sprintf("the plan has several %ss; say which with `%s`", what, key)
		return
	}
	m.Summary = fmt.Sprintf("no %s is named %s", what, m.Summary)
}

// pick finds the named entry; without a name the only one, or the one called usual. The mistake's summary is the
// quoted name that was not found, or empty when a name is needed.
func pick[T any](all []item[T], name *val[string], usual string) (*T, *source.Diagnostic) {
	var names []string
	for _, e := range all {
		names = append(names, e.Key)
		if name != nil && e.Key == name.V || name == nil && (len(all) == 1 || usual != "" && e.Key == usual) {
			return e.Value, nil
		}
	}
	if len(all) == 0 && name == nil {
		return nil, nil
	}
	if name == nil {
		return nil, &source.Diagnostic{Code: codeMissing, Allowed: names}
	}
	return nil, &source.Diagnostic{Code: codeUnknownName, Summary: fmt.Sprintf("%q", name.V), Allowed: names, Nearest: source.Nearest(name.V, names)}
}

func known(m map[string]bool, key string) bool {
	_, ok := m[key]
	return ok
}

// extent checks how long a stage lasts.
func (c *checker) extent(s *rawStage) {
	p := s.Play
	if p.For != nil && p.For.V.IsZero() {
		c.at(p.For.at, &source.Diagnostic{Code: codeRange, Summary: "for must be above 0s"})
	}
	if p.Until == nil || p.Until.Stable == nil {
		return
	}
	c.stableRamp(s)
	stable := p.Until.Stable
	if stable.Window != nil && stable.Window.V.IsZero() {
		c.at(stable.Window.at, &source.Diagnostic{Code: codeRange, Summary: "window must be above 0s"})
	}
	if stable.Within != nil && stable.Within.V <= 0 {
		c.at(stable.Within.at, &source.Diagnostic{Code: codeRange, Summary: "within must be above 0%"})
	}
	if stable.Windows != nil && stable.MaxWindows != nil && stable.MaxWindows.V < stable.Windows.V {
		at := stable.MaxWindows.at
		if at.implied {
			at = stable.Windows.at
		}
		c.at(at, &source.Diagnostic{
			Code: codeRange, Summary: fmt.Sprintf("max_windows %d is below windows %d", stable.MaxWindows.V, stable.Windows.V),
		})
	}
	if stable.Metrics != nil && len(stable.Metrics) == 0 && !c.doubtful(stable.At.path+"/metrics") {
		c.under(stable.At, "metrics", &source.Diagnostic{Code: codeMissing, Summary: "metrics names no metric"})
	}
}

// assertionIDs reports ids that two assertions of the plan share.
func (c *checker) assertionIDs() {
	seen := map[string]source.Pos{}
	check := func(owner string, list []*rawAssertion) {
		for i, a := range list {
			id := a.id(owner, i)
			at := a.At
			if a.ID != nil && a.fromSLO == "" {
				at = a.ID.at
			}
			if first, twice := seen[id]; twice {
				c.at(at, &source.Diagnostic{
					Code: codeDuplicate, Summary: fmt.Sprintf("two assertions have the id %q; the first is at %d:%d", id, first.Line, first.Column),
				})
				continue
			}
			seen[id] = at.pos()
		}
	}
	for _, s := range c.raw.flat {
		if s.ID != nil && !c.again(s) {
			check(s.ID.V, s.Play.Assert)
		}
	}
	check("plan", c.raw.Assert)
}
