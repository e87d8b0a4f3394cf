package executor

import (
	"fmt"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/feed"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/source"
)

// maxCalls caps the encoded requests of all stages together: they stay in memory as long as the run.
const maxCalls = 4 << 30

// encode makes the calls of a stage. left is the room for them, which gets smaller.
func (in *inputs) encode(conn backends.Conn, s *scenario.Stage, seed uint64, left *int64) source.Diagnostics {
	reqs, diags := feed.Build(s.Request.Data, &s.Request, in.sig, seed)
	for _, req := range reqs {
		call, err := conn.Prepare(req)
		if err == nil {
			if *left -= int64(call.Size); *left < 0 {
				err = fmt.Errorf("the requests of all stages are more than %d GiB; lower `count`, `batch` or `shapes`", maxCalls>>30)
			}
		}
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
