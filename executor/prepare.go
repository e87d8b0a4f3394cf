package executor

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/tensor"
	"github.com/sluice-bench/sluice/executor/feed"
	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/executor/trial"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/source"
)

// maxCalls caps the encoded requests of all stages together: they stay in memory as long as the run.
const maxCalls = 4 << 30

// encode makes the calls of one kind of request of a stage, or gives its tensors their places in
// shared memory. left is the room for both, which gets smaller. keep: the requests are wanted
// afterwards as well. learn sees them before they are encoded.
func encode(
	e *trial.Entry, conn backends.Conn, n *program.Node, seed uint64, left *int64, keep bool,
	learn func([]backends.Request),
) source.Diagnostics {
	s := n.Stage
	if p := e.Plan.Request.Data.Prompts; p != nil && p.Reuse == "stage" {
		seed ^= feed.Hash(s.ID) // other stages send others
	}
	built, diags := feed.Build(e.Plan.Request.Data, &e.Plan.Request, e.Signature, seed)
	what := fmt.Sprintf("stage %q", s.ID)
	if e.Plan.Name != "" {
		what += fmt.Sprintf(", %q of its mix", e.Plan.Name)
	}
	e.Rows, e.Delays, e.Streams, e.Times = built.Rows, built.Delays, built.Streams, built.Times
	sessions := n.Sequences != nil && n.Sequences.Sessions
	if e.Delays != nil && (n.Users() || n.Open && (!sessions || !n.Sequences.Begin)) {
		diags = append(diags, source.Warnf(source.CodeNoEffect,
			"%s: the rows' \"delay\" has no effect, as the load says when each request is due", what).
			Help("only a closed loop (`concurrency`) pauses after a reply").At("", s.LoadPos, 0))
	}
	if n.Sequences != nil && !sessions {
		text := n.Sequences.Text || e.Signature.Sequence == backends.TextSequences
		sequence := &backends.Sequence{Text: text}
		for i := range built.Requests {
			built.Requests[i].Sequence = sequence
		}
	}
	if !diags.HasErrors() {
		learn(built.Requests)
	}
	var err error
	if s.Memory != nil {
		err = lay(e, conn, s.Memory, built.Requests, left)
	} else {
		err = prepareCalls(e, conn, built, left)
	}
	if err == nil && sessions {
		err = converse(e, conn)
	}
	if err != nil {
		return append(diags, source.Errorf("request", "%s: %s", what, err).At("", s.IDPos, 0))
	}
	e.Prompts = promptTokens(built.Requests)
	if keep {
		e.Built = built.Requests
		if e.Signature.Text || e.Plan.Request.Data.Prompts != nil {
			keepPayloads(e, conn)
		}
	}
	return diags
}

// converse lets the turns of an entry's sessions hold those before them and their answers, unless they are
// to be sent as they are.
func converse(e *trial.Entry, conn backends.Conn) error {
	if e.Plan.Request.Data.History == "verbatim" || e.Streams == nil {
		return nil
	}
	c, ok := conn.(backends.Continuer)
	if !ok {
		return errors.New("the backend continues no conversations: write `history: verbatim`")
	}
	for _, turns := range e.Streams {
		for i, at := range turns {
			call := e.Calls[at]
			if err := c.Continues(call); err != nil {
				return fmt.Errorf("row %d: %w; write `history: verbatim` to send the rows as they are", call.Row, err)
			}
			call.KeepAnswer = i < len(turns)-1
		}
	}
	e.Continue = c.Continue
	return nil
}

// keepPayloads keeps the bodies of requests of text in place of inputs, under the name that
// perf_analyzer gives them, and of those that are sent as tensors the tensors.
func keepPayloads(e *trial.Entry, conn backends.Conn) {
	maker, isMaker := conn.(backends.TextTensors)
	for i, c := range e.Calls {
		if isMaker {
			if inputs, err := maker.TextInputs(e.Built[i]); err == nil { // it was prepared
				e.Built[i].Inputs = inputs
				continue
			}
		}
		_, front, _ := bytes.Cut(c.Head, []byte("\r\n\r\n"))
		body := bytes.Join(append([][]byte{front}, c.Body...), nil)
		if json.Valid(body) {
			e.Built[i].Inputs = []backends.Tensor{backends.Payload(body)}
		} else { // over gRPC it is no text
			e.Built[i].Inputs = rowInputs(e.Built[i].Rows)
		}
	}
}

// rowInputs returns the members of a request's first row, each as a text of its name.
func rowInputs(rows [][]backends.Member) (inputs []backends.Tensor) {
	for _, row := range rows[:min(len(rows), 1)] {
		for _, m := range row {
			text := m.Value
			var s string
			if json.Unmarshal(m.Value, &s) == nil {
				text = []byte(s)
			}
			inputs = append(inputs, backends.TensorOf(m.Name, tensor.TextArray(text)))
		}
	}
	return inputs
}

// promptTokens returns the tokens of requests; nil: none is known.
func promptTokens(requests []backends.Request) []int {
	known := func(r backends.Request) bool { return r.Tokens > 0 }
	if !slices.ContainsFunc(requests, known) {
		return nil
	}
	list := make([]int, len(requests))
	for i := range requests {
		list[i] = requests[i].Tokens
	}
	return list
}

// prepareCalls makes the calls of the requests.
func prepareCalls(e *trial.Entry, conn backends.Conn, built feed.Built, left *int64) error {
	for i, req := range built.Requests {
		call, err := conn.Prepare(req)
		if err == nil && req.Vary != nil && call.Vary == nil {
			err = errors.New("this backend cannot send prompts that differ: write `reuse: all`")
		}
		if err == nil {
			call.Entry = e.Number
			err = take(left, call.Size)
		}
		if err != nil {
			return fmt.Errorf("the request of %s cannot be encoded: %w", built.Place(i), err)
		}
		e.Calls = append(e.Calls, call)
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

// probes asks for a real answer of each model that is there from the beginning: those of the stages
// that come before any that prepares the server itself. The others are asked when their stage
// starts.
func (su *setup) probes() {
	for _, n := range su.program.Nodes {
		if len(n.Stage.Before) > 0 {
			return
		}
		su.answered(su.inputs[n.Stage])
	}
}

// answered asks the models of a stage for a real answer, each model once in the run; what gives
// none fails the stage.
func (su *setup) answered(in *inputs) {
	su.asking.Lock()
	defer su.asking.Unlock()
	if in == nil || in.err != nil {
		return
	}
	for _, e := range in.Entries {
		k := model{target: su.targets[e.Plan.Request.Target], name: e.Plan.Request.Model}
		if e.Shared != nil {
			k.memory, k.device = e.Shared.Memory.Kind, e.Shared.Memory.Device
		}
		if _, ok := su.asked[k]; !ok && e.Choices() > 0 {
			su.asked[k] = su.asksFor(k.target, e, &in.probes)
		}
		if err := su.asked[k]; err != nil {
			in.err = trial.About(k.target.Plan, err)
			return
		}
	}
}

// asksFor asks for a real answer to the last of an entry's requests, the first step of the last sequence,
// unless the target is not to be asked: a server that caches prompts has then not seen those that are
// measured first. sent counts the requests.
func (su *setup) asksFor(t *target, e *trial.Entry, sent *int) error {
	switch {
	case e.Shared != nil:
		return su.tryShared(t, e, sent)
	case !t.Plan.Probe:
		return nil
	}
	return su.probe(t, e.Calls[probed(e)], e.IDs, sent)
}

// probed returns the number of the request that a server is asked first.
func probed(e *trial.Entry) int {
	if n := len(e.Streams); n > 0 && len(e.Streams[n-1]) > 0 {
		return e.Streams[n-1][0]
	}
	return len(e.Calls) - 1
}

// decoupled refuses a model whose requests may have any number of responses where each is to have
// one, before the server does.
func decoupled(t *target, sig backends.Signature) error {
	if !sig.Decoupled || t.Plan.Streaming || t.Plan.Endpoint == "generate" {
		return nil
	}
	also := ""
	if t.Plan.Transport() == "http" {
		also = " with a grpc:// URL, or with `endpoint: generate`"
	}
	return fmt.Errorf("model %s is decoupled, a request may have any number of responses: "+
		"write `streaming: true`%s", sig.Model, also)
}

// binaryTensors warns where a server does not say that it takes tensors as raw bytes over HTTP;
// some take them all the same.
func binaryTensors(t *target, sig backends.Signature) source.Diagnostics {
	binary := t.Plan.Input != "json" || t.Plan.Output != "json"
	if sig.Model == "" || sig.Text || sig.BinaryTensors || !binary || t.Plan.GRPC() {
		return nil
	}
	return source.Diagnostics{source.Warnf("no-binary-tensors",
		"the server of target %q does not list the binary tensor extension", t.Plan.Name).
		Help("if requests fail, send JSON: tensors: {input: json, output: json}").At("", t.Plan.Pos, 0)}
}

// keepsState compares what a model says of itself with what the stage sends: a model that keeps
// state takes no request that belongs to no sequence.
func keepsState(n *program.Node, e *trial.Entry) source.Diagnostics {
	switch {
	case n.Sequences == nil && e.Signature.Sequence > backends.NoSequences:
		return source.Diagnostics{source.Errorf("sequences", "stage %q sends requests that form no "+
			"sequences, and model %q keeps state between those of a sequence", n.Stage.ID, e.Signature.Model).
			Help("add `sequences: {}`: sequences of 20 requests, or as long as the data's own").
			At("", n.Stage.IDPos, 0)}
	case n.Sequences != nil && e.Signature.Sequence == backends.NoSequences:
		return source.Diagnostics{source.Warnf("sequences", "model %q says that it keeps no state between "+
			"requests: the sequences of stage %q mean nothing to it", e.Signature.Model, n.Stage.ID).
			At("", n.Sequences.Pos, 0)}
	}
	return nil
}

// lay gives the tensors of an entry's requests their places in shared memory.
func lay(
	e *trial.Entry, conn backends.Conn, m *scenario.Memory, requests []backends.Request, left *int64,
) error {
	for i := range requests {
		if err := take(left, bytesOf(&requests[i])); err != nil {
			return err
		}
	}
	s, ok := conn.(backends.Sharer)
	if !ok {
		return errors.New("the backend shares no memory")
	}
	shared, err := s.Share(requests, backends.Sharing{
		Memory: m.Kind, Device: m.Device, Model: e.Signature, OutputSize: m.OutputSize,
	})
	if err != nil {
		return fmt.Errorf("the requests cannot be encoded for shared memory: %w", err)
	}
	e.Shared = &trial.Shared{Shared: shared, Memory: m, Requests: requests}
	return nil
}

// bytesOf counts the bytes of a request's inputs.
func bytesOf(r *backends.Request) (n int) {
	for i := range r.Inputs {
		n += len(r.Inputs[i].Data)
	}
	return n
}

// take takes room for a request.
func take(left *int64, size int) error {
	if *left -= int64(size); *left < 0 {
		return fmt.Errorf("the requests of all stages are more than %d GiB; lower `count`, `batch` or "+
			"`shapes`", maxCalls>>30)
	}
	return nil
}

// tryShared does for one slot what every trial of the stage will do for all of its slots, and asks
// for a real answer, unless the target is not to be asked.
func (su *setup) tryShared(t *target, e *trial.Entry, sent *int) error {
	if t.Plan.Ready == 0 {
		return nil
	}
	calls, release, err := e.OpenShared(su.stops.waiting, &t.Target, 1)
	if err != nil {
		return err
	}
	if t.Plan.Probe {
		err = su.probe(t, calls[0], e.IDs, sent)
	}
	ctx, cancel := trial.WithGrace(su.stops.waiting, trial.ReleaseLimit)
	defer cancel()
	return errors.Join(err, release(ctx))
}
