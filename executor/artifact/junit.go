package artifact

import (
	"encoding/xml"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/sluice-bench/sluice/executor/artifact/clean"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// The JUnit elements that CI systems agree on, with attributes in this order.
type (
	suites struct {
		XMLName xml.Name `xml:"testsuites"`
		Name    string   `xml:"name,attr"`
		tally
		Time   string  `xml:"time,attr"`
		Suites []suite `xml:"testsuite"`
	}
	suite struct {
		Name string `xml:"name,attr"`
		tally
		Time       string `xml:"time,attr"`
		Timestamp  string `xml:"timestamp,attr"`
		Hostname   string `xml:"hostname,attr,omitempty"`
		Properties *properties
		Cases      []testcase `xml:"testcase"`
	}
	properties struct {
		XMLName xml.Name   `xml:"properties"`
		List    []property `xml:"property"`
	}
	tally struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Errors   int `xml:"errors,attr"`
		Skipped  int `xml:"skipped,attr"`
	}
	property struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	testcase struct {
		Class   string   `xml:"classname,attr"`
		Name    string   `xml:"name,attr"`
		Time    string   `xml:"time,attr"`
		Failure *problem `xml:"failure"`
		Error   *problem `xml:"error"`
		Skipped *skipped `xml:"skipped"`
		Out     string   `xml:"system-out,omitempty"`
	}
	problem struct {
		Type    string `xml:"type,attr"`
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
	skipped struct {
		Message string `xml:"message,attr"`
	}
)

// Types of an error. Inconclusive is an error, not skipped: most CI systems show skipped as green.
const (
	typeInconclusive = "inconclusive"
	typeInvalid      = "measurement-invalid"
	typeHarness      = "harness"
	typeInterrupted  = "interrupted"
)

// junitXML returns one suite per node, with a case "measurement valid" before its assertions; one
// for the plan's own assertions; and one for the run itself if that failed. There is always at
// least one case.
func junitXML(r *result.Result, _ Options) ([]byte, error) {
	all := suites{Name: clean.Line(r.Plan.Name), Time: seconds(r.Ended.Sub(r.Started).Seconds())}
	host := clean.Line(r.Environment.Hostname)
	add := func(s suite) {
		s.Name, s.Hostname = clean.Line(s.Name), host
		for i := range s.Cases {
			c := &s.Cases[i]
			c.Class = clean.Line(r.Plan.Name) + "." + s.Name
			c.Name = clean.Line(c.Name)
			s.count(c)
		}
		all.Tests, all.Failures = all.Tests+s.Tests, all.Failures+s.Failures
		all.Errors, all.Skipped = all.Errors+s.Errors, all.Skipped+s.Skipped
		all.Suites = append(all.Suites, s)
	}
	for _, n := range r.Nodes {
		add(nodeSuite(n, r.Started))
	}
	started := stamp(r.Started)
	if len(r.Assertions) > 0 {
		s := suite{Name: "plan", Time: seconds(0), Timestamp: started}
		for _, a := range r.Assertions {
			s.Cases = append(s.Cases, assertionCase(judgedAssertion{nil, a}, 0))
		}
		add(s)
	}
	if c, wrong := runCase(r); wrong || len(all.Suites) == 0 {
		add(suite{Name: "run", Time: all.Time, Timestamp: started, Cases: []testcase{c}})
	}
	text, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		return nil, err
	}
	return append(append([]byte(xml.Header), text...), '\n'), nil
}

func (t *tally) count(c *testcase) {
	t.Tests++
	switch {
	case c.Failure != nil:
		t.Failures++
	case c.Error != nil:
		t.Errors++
	case c.Skipped != nil:
		t.Skipped++
	}
}

func nodeSuite(n *result.Node, origin time.Time) suite {
	p := &properties{}
	add := func(name, value string) { p.List = append(p.List, property{name, value}) }
	add("load", loadText(n))
	add("target", clean.Line(n.Target))
	add("outcome", string(n.Outcome))
	if m := n.Metrics[metric.Capacity]; m != nil {
		add(metric.Capacity, capacityText(m, "none"))
	}
	if len(n.Attempts) > 0 {
		add("attempts", whole(int64(len(n.Attempts))))
	}
	if n.Description != "" {
		add("description", clean.Line(n.Description))
	}
	for _, k := range slices.Sorted(maps.Keys(n.Labels)) {
		add("label."+clean.Line(k), clean.Line(n.Labels[k]))
	}
	s := suite{
		Name: n.ID, Time: seconds(n.Duration), Properties: p,
		Timestamp: stamp(origin.Add(time.Duration(n.Started * float64(time.Second)))),
		Cases:     []testcase{validCase(n)},
	}
	for _, a := range n.Assertions {
		s.Cases = append(s.Cases, assertionCase(judgedAssertion{n, a}, n.Duration))
	}
	return s
}

// validCase returns the case of a node's validity.
func validCase(n *result.Node) testcase {
	c := testcase{Name: "measurement valid", Time: seconds(n.Duration)}
	if f := n.Finding(result.MeasuredAgain); f != nil {
		c.Out = clean.Line(f.Text)
	}
	kind := map[result.Outcome]string{
		result.Failed: typeHarness, result.InterruptedNode: typeInterrupted,
		result.Unstable: typeInconclusive,
	}[n.Outcome]
	switch {
	case n.Outcome == result.SkippedNode:
		c.Skipped = &skipped{clean.Line(n.Reason)}
	case kind != "":
		c.Error = &problem{Type: kind, Message: clean.Line(n.Reason)}
	case !n.Validity.OK:
		c.Error = &problem{Type: typeInvalid, Message: invalidBecause(n)}
	}
	return c
}

// assertionCase returns the case of one assertion. A warning is never red; its finding is in the
// output. Why a measurement is invalid is stated once, in the case of the node.
func assertionCase(a judgedAssertion, time float64) testcase {
	c := testcase{Name: a.ID, Time: seconds(time)}
	message := resultLine(a.Assertion)
	if reasonUnlessFound(a) == invalidNode {
		message = clean.Line(a.That) + ": the measurement is invalid"
	}
	text := fmt.Sprintf("%s at %s", clean.Line(a.That), clean.Line(a.At))
	if a.Severity == warn && a.Verdict != result.Pass {
		c.Out = "warning: " + message + "\n" + text
		return c
	}
	switch a.Verdict {
	case result.Pass:
	case result.Fail:
		c.Failure = &problem{"slo", message, text}
	case result.Skipped:
		c.Skipped = &skipped{clean.Line(a.Reason)}
	case result.Interrupted:
		c.Error = &problem{typeInterrupted, message, text}
	case result.ErrorVerdict:
		c.Error = &problem{typeHarness, message, text}
	case result.Inconclusive:
		c.Error = &problem{typeInconclusive, message, text}
	default:
		c.Error = &problem{typeInconclusive, "unknown verdict " + strconv.Quote(string(a.Verdict)), text}
	}
	return c
}

// runCase returns the case of the run as a whole; wrong says that the run failed.
func runCase(r *result.Result) (c testcase, wrong bool) {
	c = testcase{Name: "run completed", Time: seconds(r.Ended.Sub(r.Started).Seconds())}
	kind, message := "", clean.Line(r.Reason)
	switch {
	case r.Verdict == result.ErrorVerdict:
		kind = typeHarness
	case r.Verdict == result.Interrupted || r.State == result.StatePartial:
		kind = typeInterrupted
	case len(r.Nodes) == 0:
		kind, message = typeInconclusive, "nothing was measured"
	default:
		return c, false
	}
	c.Error = &problem{Type: kind, Message: message}
	return c, true
}

// seconds formats s with fixed digits and without locale, so that files differ only where times do.
func seconds(s float64) string { return strconv.FormatFloat(max(s, 0), 'f', 3, 64) }

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05") }
