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

// plan writes the text. An option without an equal is a comment at its head and a warning.
func (s *settings) plan() string {
	body := &page{}
	s.target(body)
	s.data(body)
	s.stage(body)
	s.output(body)
	s.leftovers()
	s.rest(body)

	head := &page{}
	head.remark("", "From: "+oneLine(s.text))
	for _, n := range s.notes {
		head.remark("", "No equal: "+oneLine(n.option)+": "+oneLine(n.text))
		s.warn(s.arg(n.option), codeNoEqual, "%s: %s", n.option, n.text)
	}
	for _, n := range s.asides {
		head.remark("", "Not needed: "+oneLine(n.option)+": "+oneLine(n.text))
	}
	for _, n := range s.literal {
		head.remark("", "As it stands: "+oneLine(n.option)+": "+oneLine(n.text))
	}
	head.add("version: 1", "")
	head.add("name: "+s.name(), "")
	head.add("", "")
	return head.String() + body.String()
}

var notOfNames = regexp.MustCompile(`[^a-z0-9._-]+`)

// name returns the plan's name: the model's, in the letters that a plan's name may have.
func (s *settings) name() string {
	name := strings.Trim(notOfNames.ReplaceAllString(strings.ToLower(cmp.Or(s.model, s.method)), "-"),
		"._-")
	return scalar(cmp.Or(name, "perf-analyzer"))
}

// no names an option that the plan has no equal for.
func (s *settings) no(option, text string) { s.notes = append(s.notes, note{option, text}) }

// idle names an option that needs no key in a plan.
func (s *settings) idle(option, text string) {
	if s.has(option) {
		s.asides = append(s.asides, note{option, text})
	}
}

// leftovers names the options that no other part of the plan covers.
func (s *settings) leftovers() {
	s.idle("-v", "every window, and the parts of every latency, are in result.json")
	s.idle("--async", "no request here waits for another, whatever the client's ways are")
	s.idle("--sync", "no request here waits for another, whatever the client's ways are")
	if s.verboseCSV {
		s.idle("--verbose-csv",
			"the table with the further columns is perf_analyzer_verbose.csv, always written")
	}
	if s.has("--max-threads") && !s.heldBack() && !s.shareStreams() {
		s.idle("--max-threads", "a request in flight takes no thread of its own")
	}
	if s.mpi {
		s.no("--enable-mpi", "put the stages of all commands under `parallel` in one plan; "+
			"`until: stable` then waits for all of them")
	}
	if s.load() != modeRate && s.has("--request-distribution") {
		s.idle("--request-distribution", "there is no request rate")
	}
	if _, _, _, ranged := s.ranged(); s.binary && !ranged {
		s.idle("--binary-search", "there is no range to search")
	}
	if s.load() != modePeriodic {
		s.idle("--request-period", "there is no periodic load")
	}
}

// rest names the options that neither a line of the plan nor a note mentions.
func (s *settings) rest(body *page) {
	mentioned := map[string]bool{}
	hear := func(text string) {
		separates := func(r rune) bool { return r != '-' && !unicode.IsLetter(r) }
		for word := range strings.FieldsFuncSeq(text, separates) {
			mentioned[word] = true
		}
	}
	for _, l := range body.lines {
		hear(l.comment)
	}
	for _, n := range slices.Concat(s.notes, s.asides) {
		hear(n.option)
	}
	inOrder := func(a, b string) int { return s.seen[a].nameAt - s.seen[b].nameAt }
	for _, name := range slices.SortedFunc(maps.Keys(s.seen), inOrder) {
		if !mentioned[name] {
			s.idle(name, "it says what is usual anyway, or has no effect beside the other options")
		}
	}
}

// path returns a file of the command line as the plan names it: relative to the plan's folder, or
// absolute where the command line has it so.
func (s *settings) path(p string) string {
	if s.o.Dir == "" || filepath.IsAbs(p) {
		return scalar(p)
	}
	dir, err := filepath.Abs(s.o.Dir)
	file, err2 := filepath.Abs(p)
	if err != nil || err2 != nil { // the working folder is gone
		return scalar(p)
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real // its .. is where the system goes from there
	}
	rel, err := filepath.Rel(dir, file)
	if err != nil {
		return scalar(file)
	}
	return scalar(rel)
}

func (s *settings) output(p *page) {
	formats := []string{"json", "csv"}
	var why []string
	if s.csv != "" {
		formats, why = append(formats, "perf_analyzer_csv"), append(why, "-f "+quote(s.csv))
	}
	if s.export != "" {
		formats, why = append(formats, "profile_export"), append(why,
			"--profile-export-file "+quote(s.export))
	}
	if len(why) > 0 {
		why = append(why, "in the result folder; convert --run writes these paths")
	}
	list := []int64{50, 90, 95, 99}
	if s.percentile > 0 && !slices.Contains(list, s.percentile) {
		list, why = append(list, s.percentile), append(why, "--percentile")
		slices.Sort(list)
	}
	members := []string{"formats: [" + strings.Join(formats,
		", ") + "]", "percentiles: " + strings.ReplaceAll(fmt.Sprint(list), " ", ", ")}
	p.add("", "")
	p.add("output: "+flow(members...), strings.Join(why, ", "))
}
