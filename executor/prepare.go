package executor

import (
	"fmt"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/feed"
	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/scenario/source"
)

// Codes of the diagnostics that preparing reports; source.Codes lists their meanings.
const (
	codeRequest = "request"
	codeBinary  = "no-binary-tensors"
)

// maxCalls caps the encoded requests of all stages together: they stay in memory as long as the run.
const maxCalls = 4 << 30

// encode makes the calls of one kind of request of a stage, or gives its tensors their places in shared memory.
// left is the room for both, which gets smaller. keep: the requests are wanted afterwards as well.
func (e *entry) encode(conn backends.Conn, n *program.Node, seed uint64, left *int64, keep bool) source.Diagnostics {
	s, sequence := n.Stage, e.sequence(n)
	built, diags := feed.Build(e.plan.Request.Data, &e.plan.Request, e.sig, seed)
	what := fmt.Sprintf("stage %q", s.ID)
	if e.plan.Name != "" {
		what += fmt.Sprintf(", %q of its mix", e.plan.Name)
	}
	e.rows, e.delays, e.streams = built.Rows, built.Delays, built.Streams
	if n.Open && e.delays != nil {
		diags = append(diags, source.Diagnostic{
			Severity: source.Warning, Code: program.CodeNoEffect, Pos: s.LoadPos,
			Summary: fmt.Sprintf("%s: the rows' \"delay\" has no effect, as the load says when each request is due", what),
			Detail:  "only a closed loop (`concurrency`) pauses after a reply",
		})
	}
	for i := range built.Requests {
		built.Requests[i].Sequence = sequence
	}
	var err error
	if s.Memory != nil {
		err = e.lay(conn, s.Memory, built.Requests, left)
	} else {
		err = e.prepare(conn, built.Requests, left)
	}
	if err != nil {
		return append(diags, source.Diagnostic{
			Severity: source.Error, Code: codeRequest, Pos: s.IDPos, Summary: fmt.Sprintf("%s: %s", what, err),
		})
	}
	if keep {
		e.built = built.Requests
	}
	return diags
}

// prepare makes the calls of the requests.
func (e *entry) prepare(conn backends.Conn, requests []backends.Request, left *int64) error {
	for _, req := range requests {
		call, err := conn.Prepare(req)
		if err == nil {
			call.Entry = e.number
			err = take(left, call.Size)
		}
		if err != nil {
			return fmt.Errorf("the request of row %d cannot be encoded: %w", req.Row, err)
		}
		e.calls = append(e.calls, call)
	}
	return nil
}

// take takes room for a request.
func take(left *int64, size int) error {
	if *left -= int64(size); *left < 0 {
		return fmt.Errorf("the requests of all stages are more than %d GiB; lower `count`, `batch` or `shapes`", maxCalls>>30)
	}
	return nil
}

// model is one model of one target, and how its tensors get there.
type model struct {
	target *target
	name   string
	memory string // kind of shared memory; "" the network
	device int    // with cuda, the GPU
}

// probes asks for a real answer of each model that is there from the beginning: those of the stages that come before any
// that prepares the server itself. The others are asked when their stage starts.
func (r *runner) probes() {
	for _, n := range r.program.Nodes {
		if len(n.Stage.Before) > 0 {
			return
		}
		r.answered(r.inputs[n.Stage])
	}
}

// answered asks the models of a stage for a real answer, each model once in the run; what gives none fails the stage.
func (r *runner) answered(in *inputs) {
	r.asking.Lock()
	defer r.asking.Unlock()
	if in == nil || in.err != nil {
		return
	}
	for _, e := range in.entries {
		k := model{target: in.pools[e.pool], name: e.plan.Request.Model}
		if e.shared != nil {
			k.memory, k.device = e.shared.memory.Kind, e.shared.memory.Device
		}
		if _, ok := r.asked[k]; !ok && e.choices() > 0 {
			r.asked[k] = r.asksFor(k.target, e, &in.probes)
		}
		if err := r.asked[k]; err != nil {
			in.err = about(k.target.plan, err)
			return
		}
	}
}

// asksFor asks for a real answer to the first of an entry's requests, unless the target is not to be asked. sent counts the requests.
func (r *runner) asksFor(t *target, e *entry, sent *int) error {
	switch {
	case e.shared != nil:
		return r.tryShared(r.stops.waiting, t, e, sent)
	case !t.plan.Probe:
		return nil
	}
	return r.probe(r.stops.waiting, t, e.calls[0], e.ids, sent)
}

// decoupled refuses a model whose requests may have any number of responses where each is to have one, before the server does.
func decoupled(t *target, sig backends.Signature) error {
	if !sig.Decoupled || t.plan.Streaming || t.plan.Endpoint == "generate" {
		return nil
	}
	return fmt.Errorf("model %s is decoupled, a request may have any number of responses: write `streaming: true`%s", sig.Model, streams(t))
}

// streams is what else a target needs for streams.
func streams(t *target) string {
	if t.plan.Transport() != "http" {
		return ""
	}
	return " with a grpc:// URL, or with `endpoint: generate`"
}

// tensors warns where a server does not say that it takes tensors as raw bytes over HTTP; some take them all the same.
func (r *runner) tensors(t *target, sig backends.Signature) source.Diagnostics {
	binary := t.plan.Input != "json" || t.plan.Output != "json"
	if sig.Model == "" || sig.BinaryTensors || !binary || t.plan.GRPC() {
		return nil
	}
	return source.Diagnostics{{
		Severity: source.Warning, Code: codeBinary, Pos: t.plan.Pos,
		Summary: fmt.Sprintf("the server of target %q does not list the binary tensor extension", t.plan.Name),
		Detail:  "if requests fail, send JSON: tensors: {input: json, output: json}",
	}}
}

// sequence returns what makes the requests of an entry part of a sequence; nil: each stands alone.
func (e *entry) sequence(n *program.Node) *backends.Sequence {
	if n.Sequences == nil {
		return nil
	}
	return &backends.Sequence{Text: n.Sequences.Text || e.sig.Sequence == backends.TextSequences}
}

// keepsState compares what a model says of itself with what the stage sends: a model that keeps state takes no request that
// belongs to no sequence.
func (r *runner) keepsState(n *program.Node, e *entry) source.Diagnostics {
	what := source.Diagnostic{Severity: source.Error, Code: program.CodeSequences, Pos: n.Stage.IDPos}
	switch {
	case n.Sequences == nil && e.sig.Sequence > backends.NoSequences:
		what.Summary = fmt.Sprintf("stage %q sends requests that stand alone, and model %q keeps state between those of "+
			"a sequence", n.Stage.ID, e.sig.Model)
		what.Detail = "add `sequences: {}`: sequences of 20 requests, or as long as the data's own"
	case n.Sequences != nil && e.sig.Sequence == backends.NoSequences:
		what.Severity, what.Pos = source.Warning, n.Sequences.Pos
		what.Summary = fmt.Sprintf("model %q says that it keeps no state between requests: the sequences of stage %q mean "+
			"nothing to it", e.sig.Model, n.Stage.ID)
	default:
		return nil
	}
	return source.Diagnostics{what}
}
