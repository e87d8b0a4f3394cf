package convert

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/scenario/convert/plantext"
	"github.com/sluice-bench/sluice/scenario/convert/shell"
)

// draft is a plan as it grows.
type draft struct {
	*command
	sheet
}

// plan writes the text.
func (c *command) plan() string {
	d := &draft{command: c, sheet: sheet{r: c.reader, reasons: perfAnalyzerReasons}}
	d.Add("", "")
	d.variables()
	writeTarget(d)
	writeData(d)
	writeStage(d)
	writeOutput(d)
	noteOthers(d)
	return d.text(cmp.Or(c.request.model, c.request.method), "perf-analyzer")
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

	d.noteRest()
}

func writeOutput(d *draft) {
	formats := []string{"json", "csv"}
	var why []string
	if d.out.CSV != "" {
		formats, why = append(formats, "perf_analyzer_csv"), append(why, "-f "+shell.Quote(d.out.CSV))
	}
	if d.out.Export != "" {
		formats = append(formats, "profile_export")
		why = append(why, "--profile-export-file "+shell.Quote(d.out.Export))
	}
	if len(why) > 0 {
		why = append(why, "in the result folder; convert --run writes these paths")
	}
	percentiles := []int64{50, 90, 95, 99}
	if p := d.measure.percentile; p > 0 && !slices.Contains(percentiles, p) {
		percentiles, why = append(percentiles, p), append(why, "--percentile")
		slices.Sort(percentiles)
	}
	d.Add("", "")
	d.Add("output: "+plantext.Flow("formats: ["+strings.Join(formats, ", ")+"]",
		"percentiles: "+strings.ReplaceAll(fmt.Sprint(percentiles), " ", ", ")), strings.Join(why, ", "))
}
