package executor

import (
	"fmt"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/feed"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/source"
)

// encode makes the calls of a stage.
func (in *inputs) encode(conn backends.Conn, s *scenario.Stage, seed uint64) source.Diagnostics {
	reqs, diags := feed.Build(s.Request.Data, &s.Request, in.sig, seed)
	for _, req := range reqs {
		call, err := conn.Prepare(req)
		if err != nil {
			return append(diags, source.Diagnostic{
				Severity: source.Error, Code: codeRequest, Pos: s.IDPos,
				Summary: fmt.Sprintf("stage %q: the request of row %d cannot be encoded: %s", s.ID, req.Row, err),
			})
		}
		in.calls = append(in.calls, call)
	}
	return diags
}
