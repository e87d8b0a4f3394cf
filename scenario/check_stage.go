package scenario

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/scenario/language"
	"github.com/sluice-bench/sluice/scenario/source"
)

func (c *checker) stages() {
	first := map[string]source.Pos{}
	running := false
	for _, s := range c.raw.Flat {
		if s.ID != nil && !c.again(s) {
			if at, twice := first[s.ID.V]; twice {
				c.at(s.ID.At,
					source.Errorf(source.CodeDuplicate, "duplicate stage %q; the first is at %d:%d", s.ID.V, at.Line,
						at.Column))
			} else {
				first[s.ID.V] = s.ID.At.Pos()
			}
		}
		running = running || !s.Never()
		c.stage(s)
	}
	c.checkStatuses()
	c.groups()
	switch n := c.raw.At.Node.Get("stages"); {
	case n == nil || c.Doubtful("/stages"):
	case len(c.raw.Stages) == 0:
		c.under(c.raw.At, "stages", source.Errorf(source.CodeMissing, "the plan has no stages"))
	case !running:
		c.under(c.raw.At, "stages", source.Errorf(source.CodeMissing, "no stage ever runs: each has `when: never`"))
	}
	c.assertionIDs()
}

// again reports whether the stage is another point of the one before.
func (c *checker) again(s *language.Stage) bool {
	p := c.values.PointOf(s.At.Node)
	return p != nil && !p.First
}

func (c *checker) stage(s *language.Stage) {
	c.load(s)
	c.request(s, s.At, s.Play.Request, s.Mix == nil)
	c.mix(s)
	c.checkNeeds(s.Needs, s, s.Group)
	c.extent(s)
	c.sequences(s)
	c.memory(s.Play.Memory)
	c.assertions(s)
}

// memory refuses what one kind of shared memory has and another has not.
func (c *checker) memory(m *language.Memory) {
	if m != nil && m.Kind != nil && m.Kind.V == "system" && m.Device.Or(0) != 0 {
		c.under(m.At, "device",
			source.Errorf(source.CodeDoesNotFit,
				"\"device\" does not fit `kind: system`").Help("it chooses the GPU of `kind: cuda`; memory of the "+
				"system has none"))
	}
}

// request checks what is asked for: target and dataset by name, and that some model is named. at is
// the stage or the entry of its mix; whole: the entry says everything itself.
func (c *checker) request(s *language.Stage, at language.Place, r language.Request, whole bool) {
	c.headers(r.Headers)
	c.shapes(r.Shapes)
	c.outputs(r.Outputs)
	c.expect(r.Expect)
	if !whole {
		return // its entries say what it leaves open, and repeat what it does not
	}
	target := findTarget(c, at, r.Target)
	c.useStatuses(r.Expect, target)
	if _, wrong := pick(datasetsOf(c.raw), r.Data, "main"); wrong != nil && !c.Known["/datasets"] &&
		!c.Known["/data"] {
		about(wrong, "dataset", "data")
		c.where(at, r.Data, wrong)
	}
	if target == nil || s.Never() || !c.Absent(at, "model") || !c.Absent(target.At, "model") ||
		c.modelless[target] || !needsModel(target) {
		return
	}
	c.modelless[target] = true // one stage is enough
	c.at(target.At,
		source.Errorf(source.CodeMissing, "no \"model\" here, and %s names none",
			language.Subject(s.At.Node, s.At.Path)).Help("add `model: NAME` to the target"))
}

// outputs refuses an output that is asked for twice.
func (c *checker) outputs(list []*language.OutputWanted) {
	var names []*language.Val[string]
	for _, o := range list {
		if o.Name != nil {
			names = append(names, o.Name)
		}
	}
	c.unique(names, "output")
}

// expect refuses to compare nothing, and paths that lead nowhere.
func (c *checker) expect(x *language.Expect) {
	if x == nil {
		return
	}
	if x.Sample != nil && x.Sample.V == 0 && x.At.Node.Entry("sample") != nil {
		c.at(x.Sample.At,
			source.Errorf(source.CodeRange,
				"\"sample\" must be above 0%%").Help("to compare no outputs write `outputs: false`"))
	}
	for _, f := range x.Fields.Items() {
		if slices.Contains(strings.Split(f.Key, "."), "") {
			c.under(x.Fields.At, f.Key, source.Errorf(source.CodeValue, "%q is no path", f.Key).
				Help("a path is names and indexes with dots between them, such as outputs.0.datatype"))
		}
	}
}

func findTarget(c *checker, at language.Place, name *language.Val[string]) *language.Target {
	t, wrong := pick(targetsOf(c.raw), name, "")
	if wrong != nil && !c.Known["/targets"] && !c.Known["/target"] {
		about(wrong, "target", "target")
		c.where(at, name, wrong)
	}
	return t
}

// where reports a mistake at a value, or at the map that lacks it.
func (c *checker) where(lacks language.Place, v *language.Val[string], m *source.Diagnostic) {
	switch {
	case v != nil:
		c.at(v.At, m)
	case !c.Doubtful(lacks.Path):
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

// pick finds the named entry; without a name the only one, or the one called usual. The mistake's
// summary is the quoted name that was not found, or empty when a name is needed.
func pick[T any](all []language.Item[T], name *language.Val[string], usual string) (*T, *source.Diagnostic) {
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
		return nil, source.Errorf(source.CodeMissing, "").Among("", names)
	}
	return nil, source.Errorf(source.CodeUnknownName, "%q", name.V).Among(source.Nearest(name.V, names), names)
}

func known(m map[string]bool, key string) bool {
	_, ok := m[key]
	return ok
}

// extent checks how long a stage lasts.
func (c *checker) extent(s *language.Stage) {
	p := s.Play
	if p.For != nil && p.For.V.IsZero() {
		c.at(p.For.At, source.Errorf(source.CodeRange, "for must be above 0s"))
	}
	if p.Until == nil || p.Until.Stable == nil {
		return
	}
	c.stableRamp(s)
	stable := p.Until.Stable
	if stable.Window != nil && stable.Window.V.IsZero() {
		c.at(stable.Window.At, source.Errorf(source.CodeRange, "window must be above 0s"))
	}
	if stable.Within != nil && stable.Within.V <= 0 {
		c.at(stable.Within.At, source.Errorf(source.CodeRange, "within must be above 0%%"))
	}
	if stable.Windows != nil && stable.MaxWindows != nil && stable.MaxWindows.V < stable.Windows.V {
		at := stable.MaxWindows.At
		if at.Implied {
			at = stable.Windows.At
		}
		c.at(
			at,
			source.Errorf(source.CodeRange, "max_windows %d is below windows %d", stable.MaxWindows.V,
				stable.Windows.V),
		)
	}
	if stable.Metrics != nil && len(stable.Metrics) == 0 && !c.Doubtful(stable.At.Path+"/metrics") {
		c.under(stable.At, "metrics", source.Errorf(source.CodeMissing, "metrics names no metric"))
	}
}

// assertionIDs reports ids that two assertions of the plan share.
func (c *checker) assertionIDs() {
	seen := map[string]source.Pos{}
	check := func(owner string, list []*language.Assertion) {
		for i, a := range list {
			id := a.StableID(owner, i)
			at := a.At
			if a.ID != nil && a.FromSLO == "" {
				at = a.ID.At
			}
			if first, twice := seen[id]; twice {
				c.at(at,
					source.Errorf(source.CodeDuplicate, "two assertions have the id %q; the first is at %d:%d", id,
						first.Line, first.Column))
				continue
			}
			seen[id] = at.Pos()
		}
	}
	for _, s := range c.raw.Flat {
		if s.ID != nil && !c.again(s) {
			check(s.ID.V, s.Play.Assert)
		}
	}
	check("plan", c.raw.Assert)
}
