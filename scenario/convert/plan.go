package convert

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// draft is a plan as it grows.
type draft struct {
	*command
	page
	noEqual   []note // what the plan cannot express
	notNeeded []note // what needs no key in a plan
}

// plan writes the text. An option without an equal is a comment at its head and a warning.
func (c *command) plan() string {
	d := &draft{command: c}
	writeTarget(d)
	writeData(d)
	writeStage(d)
	writeOutput(d)
	noteOthers(d)

	var head page
	remark := func(what string, n note) {
		head.add("# "+what+": "+oneLine(n.option)+": "+oneLine(n.text), "")
	}
	head.add("# From: "+oneLine(c.text), "")
	for _, n := range d.noEqual {
		remark("No equal", n)
		c.warn(c.arg(n.option), codeNoEqual, "%s: %s", n.option, n.text)
	}
	for _, n := range d.notNeeded {
		remark("Not needed", n)
	}
	for _, n := range c.literal {
		remark("As it stands", n)
	}
	head.add("version: 1", "")
	head.add("name: "+planName(cmp.Or(c.request.model, c.request.method)), "")
	head.add("", "")
	return head.String() + d.String()
}

var notOfNames = regexp.MustCompile(`[^a-z0-9._-]+`)

// planName returns the plan's name: the model's, in the letters that a plan's name may have.
func planName(model string) string {
	name := strings.Trim(notOfNames.ReplaceAllString(strings.ToLower(model), "-"), "._-")
	return scalar(cmp.Or(name, "perf-analyzer"))
}

// no names an option that the plan has no equal for.
func (d *draft) no(option, text string) { d.noEqual = append(d.noEqual, note{option, text}) }

// idle names those of the options that were given: they need no key in a plan.
func (d *draft) idle(text string, options ...string) {
	for _, o := range options {
		if d.has(o) {
			d.notNeeded = append(d.notNeeded, note{o, text})
		}
	}
}

// noteOthers names the options that no other part of the plan covers, and those that neither a line
// of the plan nor a note mentions.
func noteOthers(d *draft) {
	l := &d.load
	d.idle("every window, and the parts of every latency, are in result.json", "-v")
	d.idle("no request here waits for another, whatever the client's ways are", "--async", "--sync")
	d.idle("the table with the further columns is perf_analyzer_verbose.csv, always written", "--verbose-csv")
	if !heldBack(d) && !shareStreams(d) {
		d.idle("a request in flight takes no thread of its own", "--max-threads")
	}
	if l.mpi {
		d.no("--enable-mpi", "put the stages of all commands under `parallel` in one plan; "+
			"`until: stable` then waits for all of them")
	}
	if l.mode() != modeRate {
		d.idle("there is no request rate", "--request-distribution")
	}
	if _, _, ranged := l.ranged(); !ranged {
		d.idle("there is no range to search", "--binary-search")
	}
	if l.mode() != modePeriodic {
		d.idle("there is no periodic load", "--request-period")
	}

	mentioned := map[string]bool{}
	mention := func(text string) {
		separates := func(r rune) bool { return r != '-' && !unicode.IsLetter(r) }
		for word := range strings.FieldsFuncSeq(text, separates) {
			mentioned[word] = true
		}
	}
	for _, l := range d.lines {
		mention(l.comment)
	}
	for _, n := range slices.Concat(d.noEqual, d.notNeeded) {
		mention(n.option)
	}
	inOrder := func(a, b string) int { return d.seen[a].nameAt - d.seen[b].nameAt }
	for _, name := range slices.SortedFunc(maps.Keys(d.seen), inOrder) {
		if !mentioned[name] {
			d.idle("it says what is usual anyway, or has no effect beside the other options", name)
		}
	}
}

// path returns a file of the command line as the plan names it: relative to the plan's folder, or
// absolute where the command line has it so.
func (c *command) path(p string) string {
	if c.o.Dir == "" || filepath.IsAbs(p) {
		return scalar(p)
	}
	dir, err := filepath.Abs(c.o.Dir)
	file, err2 := filepath.Abs(p)
	if err != nil || err2 != nil { // the working folder is gone
		return scalar(p)
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real // its .. is where the system goes from there
	}
	if rel, err := filepath.Rel(dir, file); err == nil {
		file = rel
	}
	return scalar(file)
}

func writeOutput(d *draft) {
	formats := []string{"json", "csv"}
	var why []string
	if d.out.CSV != "" {
		formats, why = append(formats, "perf_analyzer_csv"), append(why, "-f "+quote(d.out.CSV))
	}
	if d.out.Export != "" {
		formats = append(formats, "profile_export")
		why = append(why, "--profile-export-file "+quote(d.out.Export))
	}
	if len(why) > 0 {
		why = append(why, "in the result folder; convert --run writes these paths")
	}
	percentiles := []int64{50, 90, 95, 99}
	if p := d.measure.percentile; p > 0 && !slices.Contains(percentiles, p) {
		percentiles, why = append(percentiles, p), append(why, "--percentile")
		slices.Sort(percentiles)
	}
	d.add("", "")
	d.add("output: "+flow("formats: ["+strings.Join(formats, ", ")+"]",
		"percentiles: "+strings.ReplaceAll(fmt.Sprint(percentiles), " ", ", ")), strings.Join(why, ", "))
}
