package executor

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/sluice-bench/sluice/executor/feed/format"
	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/source"
)

// Unallowed returns an error for each command whose output a program needs, for a user who has not allowed
// that.
func Unallowed(p *program.Program) (diags source.Diagnostics) {
	known := map[*scenario.Dataset]bool{}
	for _, n := range p.Nodes {
		for _, e := range n.Stage.Entries() {
			d := e.Request.Data
			if d == nil || d.Command == nil || known[d] {
				continue
			}
			known[d] = true
			diags = append(diags, source.Errorf("not-allowed-to-run", "the data of this plan comes from the program `%s`",
				strings.Join(d.Command, " ")).
				Help("a plan runs programs only with --allow-exec").At("", d.CommandPos, 0))
		}
	}
	return diags
}

// execute runs the programs whose output is data of a stage, each once.
func (su *setup) execute() source.Diagnostics {
	if su.env.Execute == nil {
		return Unallowed(su.program)
	}
	for _, n := range su.program.Nodes {
		for _, e := range n.Stage.Entries() {
			d := e.Request.Data
			if d == nil || d.Command == nil || d.Output != nil || su.stops.now() != "" {
				continue
			}
			name := filepath.Base(d.Command[0])
			su.tell(Event{Phase: PhaseOpen, Text: "running " + name})
			folder := filepath.Dir(d.CommandPos.File)
			output, err := su.env.Execute(su.stops.waiting, folder, d.Command, format.MaxOutput)
			if err == nil && len(output) == 0 {
				err = fmt.Errorf("it printed nothing")
			}
			if err != nil {
				return source.Diagnostics{
					source.Errorf("command", "%s makes no data: %s", name, err).At("", d.CommandPos, 0),
				}
			}
			d.Output = output
		}
	}
	return nil
}
