package scenario

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/scenario/language"
	"github.com/sluice-bench/sluice/scenario/source"
)

// stageChecks checks the stages of a plan, which share its targets and datasets.
type stageChecks struct {
	*checker
	targets   []language.Item[language.Target]
	datasets  []language.Item[language.Dataset]
	modelless map[*language.Target]bool // targets whose lack of a model is reported
	statuses  []*statusUse              // lists of codes in `expect`
}

func checkStages(c *checker) {
	sc := &stageChecks{
		checker: c, targets: targetsOf(c.raw), datasets: datasetsOf(c.raw),
		modelless: map[*language.Target]bool{},
	}
	first := map[string]source.Pos{}
	running := false
	for _, s := range c.raw.Flat {
		if s.ID != nil && !isAgain(c, s) {
			if at, twice := first[s.ID.V]; twice {
				c.at(s.ID.At, source.Errorf(source.CodeDuplicate,
					"duplicate stage %q; the first is at %d:%d", s.ID.V, at.Line, at.Column))
			} else {
				first[s.ID.V] = s.ID.At.Pos()
			}
		}
		running = running || !s.Never()
		sc.stage(s)
	}
	sc.checkStatuses()
	checkGroups(c)
	switch n := c.raw.At.Node.Get("stages"); {
	case n == nil || len(c.raw.Stages) == 0 || c.Doubtful("/stages"): // that is reported already
	case !running:
		c.under(c.raw.At, "stages", missing("no stage ever runs: each has `when: never`"))
	}
	checkAssertionIDs(c)
}

// isAgain reports whether the stage is another point of the one before.
func isAgain(c *checker, s *language.Stage) bool {
	p := c.Subs.PointOf(s.At.Node)
	return p != nil && !p.First
}

func (c *stageChecks) stage(s *language.Stage) {
	if l := s.Play.Load; l != nil {
		checkLoad(c.checker, l, s.At.Node.Entry("for") != nil)
		c.schedule(s, l.Schedule)
	}
	c.request(s, s.At, s.Play.Request, s.Mix == nil)
	c.mix(s)
	checkNeeds(c.checker, s.Needs, s, s.Group)
	checkExtent(c.checker, s)
	checkSequences(c.checker, s)
	checkMemory(c.checker, s.Play.Memory)
	checkActions(c.checker, s.Play)
	checkAssertions(c.checker, s)
}

// checkMemory refuses what one kind of shared memory has and another has not.
func checkMemory(c *checker, m *language.Memory) {
	if m != nil && m.Kind.Or("") == "system" && m.Device.Or(0) != 0 {
		c.under(m.At, "device",
			doesNotFit("\"device\" does not fit `kind: system`").
				Help("it chooses the GPU of `kind: cuda`; memory of the "+
					"system has none"))
	}
}

// request checks what is asked for: target and dataset by name, and that some model is named. at is
// the stage or the entry of its mix; whole: the entry says everything itself.
func (c *stageChecks) request(s *language.Stage, at language.Place, r language.Request, whole bool) {
	checkHeaders(c.checker, r.Headers)
	checkShapes(c.checker, r.Shapes)
	checkOutputs(c.checker, r.Outputs)
	checkExpect(c.checker, r.Expect)
	if !whole {
		return // its entries say what it leaves open, and repeat what it does not
	}
	target := named(c.checker, at, "target", c.targets, r.Target, "")
	c.useStatuses(r.Expect, target)
	named(c.checker, at, "dataset", c.datasets, r.Data, "main")
	if target == nil || s.Never() || !c.Absent(at, "model") || !c.Absent(target.At, "model") ||
		c.modelless[target] || !needsModel(target) {
		return
	}
	c.modelless[target] = true // one stage is enough
	c.at(target.At, missing("no \"model\" here, and %s names none", language.Subject(s.At.Node, s.At.Path)).
		Help("add `model: NAME` to the target"))
}

// checkOutputs refuses an output that is asked for twice.
func checkOutputs(c *checker, list []*language.OutputWanted) {
	seen := map[string]bool{}
	for _, o := range list {
		name := o.Name.Or("")
		if seen[name] && o.Name != nil {
			c.at(o.Name.At, source.Errorf(source.CodeDuplicate, "duplicate output %q", name))
		}
		seen[name] = true
	}
}

// checkExpect refuses to compare nothing, and paths that lead nowhere.
func checkExpect(c *checker, x *language.Expect) {
	if x == nil {
		return
	}
	if x.Sample != nil && x.Sample.V == 0 {
		c.at(x.Sample.At,
			outOfRange("\"sample\" must be above 0%%").Help("to compare no outputs write `outputs: false`"))
	}
	for _, f := range x.Fields.Items() {
		if slices.Contains(strings.Split(f.Key, "."), "") {
			c.under(x.Fields.At, f.Key, source.Errorf(source.CodeValue, "%q is no path", f.Key).
				Help("a path is names and indexes with dots between them, such as outputs.0.datatype"))
		}
	}
}

// named finds the target or dataset that a stage, or an entry of its mix, names; nil: a mistake that is
// reported, or there is none.
func named[T any](
	c *checker, at language.Place, what string, all []language.Item[T], name *language.Val[string],
	usual string,
) *T {
	found, wrong := pick(all, name, usual)
	key := strings.TrimSuffix(what, "set") // that of a dataset is `data`
	if wrong == nil || c.Known["/"+what+"s"] || c.Known["/"+key] {
		return found
	}
	switch {
	case name != nil:
		wrong.Summary = fmt.Sprintf("no %s is named %q", what, name.V)
		c.at(name.At, wrong)
	case !c.Doubtful(at.Path):
		wrong.Summary = fmt.Sprintf("the plan has several %ss; say which with `%s`", what, key)
		c.at(at, wrong)
	}
	return nil
}

// pick finds the named entry; without a name the only one, or the one called usual. The mistake has no
// summary.
func pick[T any](all []language.Item[T], name *language.Val[string], usual string) (*T, *source.Diagnostic) {
	for _, e := range all {
		if name != nil && e.Key == name.V || name == nil && (len(all) == 1 || usual != "" && e.Key == usual) {
			return e.Value, nil
		}
	}
	var names []string
	for _, e := range all {
		names = append(names, e.Key)
	}
	switch {
	case name != nil:
		return nil, source.Errorf(source.CodeUnknownName, "").Among(source.Nearest(name.V, names), names)
	case len(all) == 0:
		return nil, nil
	}
	return nil, missing("").Among("", names)
}

// checkExtent checks how long a stage lasts.
func checkExtent(c *checker, s *language.Stage) {
	p := s.Play
	if p.Until == nil || p.Until.Stable == nil && p.Until.Precise == nil {
		return
	}
	checkSteadyLoad(c, s)
	if p.Until.Precise != nil {
		checkPrecise(c, p.Until)
		return
	}
	stable := p.Until.Stable
	if stable.Windows != nil && stable.MaxWindows != nil && stable.MaxWindows.V < stable.Windows.V {
		at := stable.MaxWindows.At
		if at.Implied {
			at = stable.Windows.At
		}
		c.at(
			at,
			outOfRange("max_windows %d is below windows %d", stable.MaxWindows.V,
				stable.Windows.V),
		)
	}
}

// checkPrecise checks how precisely a stage is to be measured.
func checkPrecise(c *checker, u *language.Until) {
	if len(u.Precise.Items()) == 0 {
		c.at(u.Precise.At, missing("`precise` names no metric").Help("such as {latency.p99: 5%}"))
	}
	for _, e := range u.Precise.Items() {
		if v := e.Value; v.V <= 0 || v.V >= 1 {
			c.at(v.At, outOfRange("the bounds of %s must be within more than 0%% and less than 100%% of it",
				e.Key).Help("5% is usual"))
		}
	}
	checkConfidence(c, u.Confidence)
}

// checkAssertionIDs reports ids that two assertions of the plan share.
func checkAssertionIDs(c *checker) {
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
					source.Errorf(source.CodeDuplicate,
						"two assertions have the id %q; the first is at %d:%d",
						id, first.Line, first.Column))
				continue
			}
			seen[id] = at.Pos()
		}
	}
	for _, s := range c.raw.Flat {
		if s.ID != nil && !isAgain(c, s) {
			check(s.ID.V, s.Play.Assert)
		}
	}
	check("plan", c.raw.Assert)
}
