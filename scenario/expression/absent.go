package expression

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/scenario/source"
)

// The words about parts of a place that there are not. A Scope knows what there is; how it is said is the same whether a
// plan could be compiled or not.

// Missing is an error about a name that does not exist, with the one that was likely meant among names.
func Missing(what, name string, names []string, part Part) *NameError {
	return &NameError{Summary: what, Allowed: names, Nearest: source.Nearest(name, names), Part: part}
}

// NoVariable is about a variable that is not declared, with the words of other tools: ${env.LIM}, ${vars.limit}.
func NoVariable(name string, known []string) *NameError {
	e := Missing(fmt.Sprintf("there is no variable %q", name), name, known, "")
	first, rest, dotted := strings.Cut(name, ".")
	if !dotted {
		return e
	}
	switch strings.ToLower(first) {
	case "env", "environ", "secrets":
		if e.Nearest = ""; plainName.MatchString(rest) {
			e.Detail = fmt.Sprintf("declare it: vars: {%s: {env: %s}}, and write ${%[1]s}", strings.ToLower(rest), rest)
		}
	default:
		if slices.Contains(known, rest) {
			e.Nearest = rest
		}
	}
	return e
}

// NoStage is about a stage that the plan does not have.
func NoStage(id string, known []string) *NameError {
	return Missing(fmt.Sprintf("there is no stage %q", id), id, known, InStage)
}

// NeverRuns is about a stage that the plan has and that never runs.
func NeverRuns(id string) *NameError {
	return &NameError{Part: InStage, Summary: fmt.Sprintf("stage %q never runs (when: never)", id)}
}

// NoPlace is about a metric of the plan's own assertions that does not say where it is measured.
func NoPlace(path string) *NameError {
	if id, metricOf, ok := stagePath(path); ok {
		return &NameError{Summary: "a stage is named with stage( )", Nearest: fmt.Sprintf("stage(%q).%s", id, metricOf)}
	}
	return &NameError{Summary: fmt.Sprintf(`say of which stage: stage("…").%s`, path)}
}

// NoPhase is about a phase that a stage does not have.
func NoPhase(stage, name string, known []string) *NameError {
	what := fmt.Sprintf("stage %q has no phase named %q", stage, name)
	if len(known) == 0 {
		return &NameError{Part: InPhase, Summary: what, Detail: "a phase is a step of a ramp that has a `name`: {to: 500/s, hold: 60s, name: base}"}
	}
	return Missing(what, name, known, InPhase)
}

// NoMix is about an entry that the mix of a stage does not have.
func NoMix(stage, name string, known []string) *NameError {
	if len(known) == 0 {
		return &NameError{Part: InMix, Summary: fmt.Sprintf("stage %q has no mix", stage)}
	}
	return Missing(fmt.Sprintf("stage %q has no entry %q in its mix", stage, name), name, known, InMix)
}

// NoBaseline is about a comparison with a baseline that the plan does not name.
func NoBaseline() *NameError {
	return &NameError{
		Part: InBaseline, Summary: "the plan names no baseline",
		Detail: "add `baseline: FILE`, the result.json of an earlier run, or give it with --baseline FILE",
	}
}
