package artifact

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"os"
	"strconv"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/artifact/clean"
	"github.com/sluice-bench/sluice/executor/artifact/llm"
	"github.com/sluice-bench/sluice/executor/result"
)

// The formats of LLM tools. They are made of every request of a run, one file for each node: NAME for the first that
// was measured, NODE.NAME for the others.
const (
	genAIPerf = "genai_perf"
	aiperf    = "aiperf"
	vllmBench = "vllm_bench"
)

// LLMFormats returns the formats that are made of every request of a run against servers of text.
func LLMFormats() []string { return []string{genAIPerf, aiperf, vllmBench} }

// llmNames returns the files of the formats for a run of one node.
func llmNames(o Options) (names []string) {
	if o.wants(genAIPerf) {
		names = append(names, llm.InputsName)
	}
	return append(names, nodeNames(o)...)
}

// nodeNames returns the files of a node.
func nodeNames(o Options) (names []string) {
	if o.wants(genAIPerf) {
		names = append(names, llm.GenAIPerfName, llm.GenAIPerfTable)
	}
	if o.wants(aiperf) {
		names = append(names, llm.RecordsName, llm.AIPerfName)
	}
	if o.wants(vllmBench) {
		names = append(names, llm.VLLMName)
	}
	return names
}

// moreNames returns the files of all nodes but the first.
func moreNames(o Options, r *result.Result) (names []string) {
	for i, prefix := range llm.Prefixes(llm.MeasuredNodes(r)) {
		for _, name := range nodeNames(o) {
			if i > 0 {
				names = append(names, prefix+name)
			}
		}
	}
	return names
}

// requestLog holds the requests of a node on disk: lines of due time on the run's clock, blank, JSON of llm.Request.
type requestLog struct{ spool *spool }

// inputLog holds the bodies that were sent on disk, each once: a line of JSON.
type inputLog struct {
	spool *spool
	rows  map[inputRow]bool
	seed  maphash.Seed
	seen  map[uint64]bool // hashes of bodies
}

type inputRow struct {
	node       string
	entry, row uint32
}

// logRequest writes a request to the log of its node.
func (k *TrialWriter) logRequest(x *backends.Sample) error {
	if x.Flags&backends.Closing != 0 {
		return nil
	}
	s := k.of
	log := s.logs[k.trial.Node]
	if log == nil {
		out, err := newSpool(s.dir, spoolName)
		if err != nil {
			return err
		}
		if s.logs == nil {
			s.logs = make(map[string]*requestLog)
		}
		log = &requestLog{out}
		s.logs[k.trial.Node] = log
	}
	q := k.llmRequest(x)
	text, err := json.Marshal(&q)
	if err != nil {
		return fmt.Errorf("record a request: %w", err)
	}
	b := append(strconv.AppendInt(log.spool.buffer[:0], x.Due, 10), ' ')
	if err := log.spool.line(append(append(b, text...), '\n')); err != nil {
		return err
	}
	return k.logInput(x)
}

// llmRequest returns a sample as the tools count it: times run from sending, and latency ends with the last content.
func (k *TrialWriter) llmRequest(x *backends.Sample) llm.Request {
	q := llm.NewRequest()
	origin := k.trial.Started.UnixNano()
	q.Sent, q.Due = origin+x.SendStart, origin+x.Due
	q.ID, q.Session = x.ID, x.Sequence
	q.Warmup = x.Flags&backends.Warmup != 0
	q.Input, q.Output = length(x.InputTokens), length(x.OutputTokens)
	q.Cached, q.Thought = length(x.CachedTokens), length(x.ReasoningTokens)
	if x.Class == backends.Stopped || x.Class == backends.Closed {
		q.Canceled = true
		return q
	}
	if x.Class != backends.OK {
		q.Class, q.Code, q.Text = x.Class.String(), x.Status, clean.Line(k.of.mask(string(x.Note)))
		return q
	}
	q.End = max(x.LastByte-x.SendStart, 0)
	if q.Latency = q.End; x.FirstToken == 0 {
		return q
	}
	q.First, q.Latency = x.FirstToken-x.SendStart, x.LastToken-x.SendStart
	if x.FirstAnswer != 0 {
		q.Answer = x.FirstAnswer - x.SendStart
	}
	if q.Output < 0 {
		q.Output = int64(x.Responses)
	}
	last := int64(0)
	for _, e := range x.Events {
		if !e.Responds() {
			continue
		}
		if last != 0 {
			q.Gaps = append(q.Gaps, e.At-last)
		}
		last = e.At
	}
	return q
}

func length(c backends.Count) int64 {
	n, ok := c.Get()
	if !ok {
		return llm.Unknown
	}
	return n
}

// logInput writes the body of a request, unless it was sent before.
func (k *TrialWriter) logInput(x *backends.Sample) error {
	s := k.of
	if s.inputs == nil {
		out, err := newSpool(s.dir, llm.InputsName)
		if err != nil {
			return err
		}
		s.inputs = &inputLog{out, make(map[inputRow]bool), maphash.MakeSeed(), make(map[uint64]bool)}
	}
	var text []byte
	row := inputRow{k.trial.Node, uint32(x.Entry), x.Row}
	switch {
	case k.own != nil:
		text = k.payload(k.own)
	case s.inputs.rows[row] || k.trial.Sent == nil:
		return nil
	default:
		s.inputs.rows[row] = true
		text = k.payload(k.trial.Sent(x.Entry, x.Row))
	}
	hash := maphash.Bytes(s.inputs.seed, text)
	if s.inputs.seen[hash] {
		return nil
	}
	b := s.inputs.spool.buffer[:0]
	if len(s.inputs.seen) > 0 {
		b = append(b, ",\n"...)
	}
	s.inputs.seen[hash] = true
	return s.inputs.spool.line(append(b, text...))
}

// payload returns what was sent as GenAI-Perf's inputs.json has it: {"payload":[BODY]}, or of tensors
// {"NAME":[ELEMENT, …], …}.
func (k *TrialWriter) payload(tensors []backends.Tensor) []byte {
	e := trialExport{of: k.of}
	var body struct{ Payload *string }
	if len(tensors) == 1 && json.Unmarshal(e.appendTensors(nil, tensors), &body) == nil && body.Payload != nil {
		var compact bytes.Buffer
		if json.Compact(&compact, []byte(*body.Payload)) == nil {
			return append(append([]byte(`{"payload":[`), compact.Bytes()...), "]}"...)
		}
	}
	b := []byte{'{'}
	for i := range tensors {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendText(b, k.of.mask(tensors[i].Name)), ':')
		element := e.appendTensor(nil, &tensors[i])
		if len(tensors[i].Data) > 0 && element[0] != '[' { // of one element
			element = append(append([]byte{'['}, element...), ']')
		}
		b = append(b, element...)
	}
	return append(b, '}')
}

// each reads the requests of a node back: those of its numbers, and those of a warm-up.
func (l *requestLog) each(windows []llm.Window, yield func(*llm.Request) error) error {
	if l == nil {
		return nil
	}
	if err := l.spool.close(); err != nil {
		return err
	}
	f, err := os.Open(l.spool.path)
	if err != nil {
		return fmt.Errorf("read back requests: %w", err)
	}
	defer f.Close()
	lines := bufio.NewReaderSize(f, 256<<10)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) == 0 && err != nil {
			return nil // the end: every line is whole
		}
		due, text, _ := bytes.Cut(line, []byte{' '})
		at, err := strconv.ParseInt(string(due), 10, 64)
		if err != nil {
			return fmt.Errorf("read back a request: %w", err)
		}
		var q llm.Request
		if err := json.Unmarshal(text, &q); err != nil {
			return fmt.Errorf("read back a request: %w", err)
		}
		if !q.Warmup && !llm.Within(windows, at) {
			continue
		}
		if err := yield(&q); err != nil {
			return err
		}
	}
}

// llmFiles writes the files of the LLM tools.
func (s *Samples) llmFiles(f *Folder, r *result.Result, o Options) (names []string, err error) {
	keep := func(t *temporary, err error) error {
		if err == nil {
			err = f.rename(t)
		}
		if err != nil && t != nil {
			return errors.Join(err, t.remove())
		}
		if err == nil {
			names = append(names, t.name)
		}
		return err
	}
	nodes := llm.MeasuredNodes(r)
	if len(nodes) == 0 {
		nodes = []*result.Node{{ID: r.Plan.Name}} // the files say that there is nothing
	}
	var errs []error
	for i, prefix := range llm.Prefixes(nodes) {
		errs = append(errs, s.nodeFiles(f, r, nodes[i], prefix, o, keep))
	}
	if o.wants(genAIPerf) {
		errs = append(errs, s.inputsFile(keep))
	}
	return names, errors.Join(errs...)
}

// nodeFiles writes the files of a node, whose names begin with a prefix.
func (s *Samples) nodeFiles(
	f *Folder, r *result.Result, n *result.Node, prefix string, o Options, keep func(*temporary, error) error,
) error {
	run, tally := llm.Describe(r, n), llm.Tally{Windows: llm.OnWall(r, llm.Windows(n))}
	each := func(yield func(*llm.Request) error) error {
		return s.logs[n.ID].each(llm.Windows(n), func(q *llm.Request) error {
			if tokens, ok := s.counted[q.ID]; ok {
				q.Output = tokens
			}
			return yield(q)
		})
	}
	if err := each(func(q *llm.Request) error { tally.Add(q); return nil }); err != nil {
		return err
	}
	tally.Sum(run)
	var errs []error
	for _, x := range []struct {
		format, name string
		render       func(*llm.Run) ([]byte, error)
	}{
		{genAIPerf, llm.GenAIPerfName, llm.GenAIPerfJSON},
		{genAIPerf, llm.GenAIPerfTable, llm.GenAIPerfCSV},
		{aiperf, llm.AIPerfName, llm.AIPerfJSON},
	} {
		if o.wants(x.format) {
			data, err := x.render(run)
			if err == nil {
				err = keep(f.temporary(prefix+x.name, data))
			}
			errs = append(errs, err)
		}
	}
	if o.wants(aiperf) {
		errs = append(errs, s.spooled(prefix+llm.RecordsName, keep, func(out *spool) error {
			counts, turns := map[bool]int64{}, map[uint64]int64{} // by phase; by session
			return each(func(q *llm.Request) error {
				line, err := llm.AIPerfRecord(run, q, counts[q.Warmup], turns[q.Session])
				if counts[q.Warmup]++; q.Session != 0 {
					turns[q.Session]++
				}
				if err != nil {
					return err
				}
				return out.line(append(line, '\n'))
			})
		}))
	}
	if o.wants(vllmBench) {
		errs = append(errs, s.spooled(prefix+llm.VLLMName, keep, func(out *spool) error {
			return llm.VLLM(out.w, run, &tally, each)
		}))
	}
	return errors.Join(errs...)
}

// spooled writes a file piece by piece.
func (s *Samples) spooled(name string, keep func(*temporary, error) error, write func(*spool) error) error {
	out, err := newSpool(s.dir, name)
	if err != nil {
		return err
	}
	if err := errors.Join(write(out), out.close()); err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", name, err), out.remove())
	}
	return keep(&out.temporary, nil)
}

// inputsFile writes inputs.json: {"data":[PAYLOAD, …]}, each payload once, in the order of the first sending.
func (s *Samples) inputsFile(keep func(*temporary, error) error) error {
	return s.spooled(llm.InputsName, keep, func(out *spool) error {
		if err := out.line([]byte("{\"data\":[\n")); err != nil {
			return err
		}
		if s.inputs != nil {
			if err := s.inputs.spool.close(); err != nil {
				return err
			}
			in, err := os.Open(s.inputs.spool.path)
			if err != nil {
				return fmt.Errorf("read back inputs: %w", err)
			}
			defer in.Close()
			if _, err := in.WriteTo(out.w); err != nil {
				return fmt.Errorf("copy inputs: %w", err)
			}
		}
		return out.line([]byte("\n]}\n"))
	})
}
