package artifact

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/tensor"
	"github.com/sluice-bench/sluice/executor/artifact/perfanalyzer"
	"github.com/sluice-bench/sluice/executor/result"
)

// profile_export.json has the format of perf_analyzer's --profile-export-file, on one line, its
// keys in this order:
//
//	{"experiments":[
//	   {"experiment":{"mode":"concurrency"|"request_rate","value":N},
//	    "requests":[{"timestamp":T,"sequence_id":N?,"request_inputs":{NAME:V…},
//	      "response_timestamps":[T…],"response_outputs":[{NAME:V…}…]}…],
//	    "window_boundaries":[T…]}…],
//	 "version":"…","service_kind":"…","endpoint":"…"}
//
// T is wall-clock ns. V is the element of a tensor with one element, else the list of them, or ""
// for none. Requests are those that were due during their trial and OK; a request's timestamp is
// the time of sending. Trials of equal load share an experiment. The empty message that ends a
// stream is not a response here, nor is the event that has the server's count of tokens alone: its
// usage is in the last event with content (usage.go).

// trialExport holds the requests of one trial on disk: lines of due time, blank, JSON.
type trialExport struct {
	of         *Samples
	trial      Trial
	bounds     []int64
	spool      *spool
	inputs     map[uint64][]byte // JSON of request_inputs, by entry and row
	inputBytes int               // bytes in inputs
}

// spoolName is part of the temporary names of the requests of trials.
const spoolName = "profile_export"

// maxInputBytes limits the JSON of inputs that is kept for further requests of the same row.
const maxInputBytes = 64 << 20

// export writes a request to the trial's spool.
func (k *TrialWriter) export(x *backends.Sample) error {
	if x.Class != backends.OK || x.Flags&(backends.Warmup|backends.Closing) != 0 {
		return nil
	}
	if k.out == nil {
		s, err := newSpool(k.of.dir, spoolName)
		if err != nil {
			return err
		}
		k.out = &trialExport{of: k.of, trial: k.trial, spool: s, inputs: make(map[uint64][]byte)}
		k.of.trials = append(k.of.trials, k.out)
	}
	b := strconv.AppendInt(k.out.spool.buffer[:0], x.Due, 10)
	b = append(b, ' ')
	return k.out.spool.line(append(k.out.request(b, x, k.own), '\n'))
}

// end records the trial's windows.
func (k *TrialWriter) end() error {
	if k.out == nil {
		return nil
	}
	k.out.bounds, k.out.inputs = k.bounds, nil
	return k.out.spool.close() // a plan may have thousands of trials
}

// wallTime converts a time on the run clock to ns since 1970.
func (e *trialExport) wallTime(at int64) int64 { return e.trial.Started.UnixNano() + at }

// request appends a request; own are the tensors that it was sent with, nil: those of its row.
func (e *trialExport) request(b []byte, x *backends.Sample, own []backends.Tensor) []byte {
	b = strconv.AppendInt(append(b, `{"timestamp":`...), e.wallTime(x.SendStart), 10)
	if x.Sequence != 0 {
		b = strconv.AppendUint(append(b, `,"sequence_id":`...), x.Sequence, 10)
	}
	b = append(append(b, `,"request_inputs":`...), e.inputsOf(x, own)...)
	b = append(b, `,"response_timestamps":[`...)
	n := 0
	for _, ev := range x.Events {
		if !ev.Responds() {
			continue
		}
		if n++; n > 1 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, e.wallTime(ev.At), 10)
	}
	if n == 0 && x.Responses > 0 {
		b = strconv.AppendInt(b, e.wallTime(x.LastByte), 10)
	}
	b = append(b, `],"response_outputs":[`...)
	b = e.outputs(b, x, n)
	return append(b, "]}"...)
}

// inputsOf returns the JSON of a request's inputs.
func (e *trialExport) inputsOf(x *backends.Sample, own []backends.Tensor) []byte {
	if own != nil {
		return e.appendTensors(nil, own)
	}
	key := uint64(x.Entry)<<32 | uint64(x.Row)
	if text, ok := e.inputs[key]; ok {
		return text
	}
	var tensors []backends.Tensor
	if e.trial.Sent != nil {
		tensors = e.trial.Sent(x.Entry, x.Row)
	}
	text := e.appendTensors(nil, tensors)
	if e.inputBytes += len(text); e.inputBytes <= maxInputBytes {
		e.inputs[key] = text
	}
	return text
}

// outputs appends an object for each recorded reply, or one empty object for each of n responses
// with a time of its own if replies were not recorded.
func (e *trialExport) outputs(b []byte, x *backends.Sample, n int) []byte {
	replies := x.Replies()
	for i := range max(len(replies), n, min(1, int(x.Responses))) {
		if i > 0 {
			b = append(b, ',')
		}
		var tensors []backends.Tensor
		if i < len(replies) && e.trial.Received != nil {
			tensors, _ = e.trial.Received(x.Entry, replies[i]) // an unreadable reply has no outputs
		}
		if i == len(replies)-1 {
			tensors = withUsage(tensors, x.Tokens)
		}
		b = e.appendTensors(b, tensors)
	}
	return b
}

// appendTensors appends {"NAME": value …}.
func (e *trialExport) appendTensors(b []byte, tensors []backends.Tensor) []byte {
	b = append(b, '{')
	for i := range tensors {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendText(b, e.of.mask(tensors[i].Name)), ':')
		b = e.appendTensor(b, &tensors[i])
	}
	return append(b, '}')
}

// appendTensor appends a tensor's element, or the list of its elements.
func (e *trialExport) appendTensor(b []byte, t *backends.Tensor) []byte {
	start, n := len(b), 0
	b = append(b, '[')
	for data := t.Data; len(data) > 0; n++ {
		size := t.Type.Size()
		if t.Type == tensor.Bytes && len(data) >= 4 {
			size = 4 + int(binary.LittleEndian.Uint32(data))
		}
		if size <= 0 || size > len(data) {
			break
		}
		if n > 0 {
			b = append(b, ',')
		}
		if t.Type == tensor.Bytes {
			b = appendText(b, e.of.mask(string(data[4:size])))
		} else {
			b = appendFinite(b, t.Type, data)
		}
		data = data[size:]
	}
	switch n {
	case 0:
		return append(b[:start], `""`...)
	case 1:
		return append(b[:start], b[start+1:]...)
	}
	return append(b, ']')
}

// appendFinite appends a number or bool, null for a float without JSON form.
func appendFinite(b []byte, t tensor.DataType, data []byte) []byte {
	at := len(b)
	b = tensor.AppendValue(b, t, data)
	if last := b[len(b)-1]; last == 'N' || last == 'f' {
		return append(b[:at], "null"...)
	}
	return b
}

// profileExport writes the recorded requests.
func (s *Samples) profileExport(r *result.Result) (*spool, error) {
	out, err := newSpool(s.dir, "profile_export.json")
	if err != nil {
		return nil, err
	}
	errs := []error{out.line([]byte(`{"experiments":[`))}
	for i, group := range sameLoad(s.trials) {
		if i > 0 {
			errs = append(errs, out.line([]byte{','}))
		}
		errs = append(errs, experiment(out, group))
	}
	kind, endpoint := perfanalyzer.Service(r)
	tail := appendText([]byte(`],"version":`), r.Tool.Version)
	tail = appendText(append(tail, `,"service_kind":`...), kind)
	tail = appendText(append(tail, `,"endpoint":`...), endpoint)
	errs = append(errs, out.line(append(tail, '}')))
	if err := errors.Join(errs...); err != nil {
		return out, fmt.Errorf("write profile_export.json: %w", err)
	}
	return out, nil
}

// sameLoad groups trials of equal load, in the order of the first of each group.
func sameLoad(trials []*trialExport) (groups [][]*trialExport) {
	for _, t := range trials {
		at := slices.IndexFunc(groups, func(g []*trialExport) bool {
			return g[0].trial.Closed == t.trial.Closed && g[0].trial.Value == t.trial.Value
		})
		if at < 0 {
			at, groups = len(groups), append(groups, nil)
		}
		groups[at] = append(groups[at], t)
	}
	return groups
}

// experiment writes the measurements at one load.
func experiment(out *spool, group []*trialExport) error {
	t := group[0].trial
	mode, value := perfanalyzer.Concurrency, strconv.FormatFloat(t.Value, 'f', -1, 64)
	if !t.Closed {
		mode = perfanalyzer.RequestRate
		if t.Value == math.Trunc(t.Value) {
			value += ".0" // perf_analyzer writes a rate as a float
		}
	}
	errs := []error{out.line([]byte(`{"experiment":{"mode":"` + mode + `","value":` + value +
		`},"requests":[`))}
	first := true
	for _, e := range group {
		errs = append(errs, e.copyTo(out, &first))
	}
	b := []byte(`],"window_boundaries":[`)
	last := int64(math.MinInt64)
	for _, e := range group {
		for _, at := range e.bounds {
			if at == last {
				continue // the end of a window is the start of the next
			}
			if last != math.MinInt64 {
				b = append(b, ',')
			}
			b, last = strconv.AppendInt(b, e.wallTime(at), 10), at
		}
	}
	return errors.Join(append(errs, out.line(append(b, "]}"...)))...)
}

// copyTo copies the requests that were due within the trial's windows.
func (e *trialExport) copyTo(out *spool, first *bool) error {
	if err := e.spool.close(); err != nil {
		return err
	}
	f, err := os.Open(e.spool.path)
	if err != nil {
		return err
	}
	defer f.Close()
	from, to := int64(math.MinInt64), int64(math.MaxInt64)
	if len(e.bounds) > 1 {
		from, to = e.bounds[0], e.bounds[len(e.bounds)-1]
	}
	lines := bufio.NewReaderSize(f, 256<<10)
	for {
		line, err := lines.ReadString('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		text, request, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		due, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return fmt.Errorf("read back a request: %w", err)
		}
		if due < from || due > to {
			continue
		}
		if !*first {
			request = "," + request
		}
		*first = false
		if _, err := out.w.WriteString(request); err != nil {
			return err
		}
	}
}
