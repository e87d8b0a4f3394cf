package measure

import (
	"runtime"
	"sync"

	"github.com/sluice-bench/sluice/backends"
)

// The tokens of texts are counted when the player has ended, as that takes time of the CPUs that requests are
// sent with. Until then the folder keeps the texts. A request whose answer has usage counts at once, and its text
// is there to be compared with the usage. Of one without usage all counts at once but what needs the number of
// its tokens, which is counted in the same places later.

// portion is the portion of what a request adds that is counted.
type portion int8

const (
	everything    portion = iota
	withoutTokens         // what does not need the tokens of its answer
	ofTokens              // what does
)

// Tokenized compares the ways to count the tokens of answers, of those that the target's tokenizer counted.
type Tokenized struct {
	Requests, Tokens int64 // by the tokenizer
	Streamed, Events int64 // those that came in events, and the events with text
	Used, Usage      int64 // those with usage, and the tokens by it
}

// add adds a request, if the tokenizer counted its answer.
func (t *Tokenized) add(x *finished) {
	n, ok := x.tokenized.Get()
	if !ok {
		return
	}
	t.Requests++
	t.Tokens += n
	if x.FirstToken != 0 {
		t.Streamed++
		t.Events += int64(x.Responses)
	}
	if used, ok := x.OutputTokens.Get(); ok && !x.byTokenizer {
		t.Used++
		t.Usage += used
	}
}

// maxTexts bounds the bytes of texts that are kept. With more of them the first are counted while requests are sent:
// what is over it, and at least textsAtOnce bytes.
const (
	maxTexts    = 64 << 20
	textsAtOnce = 64 << 10
)

// texts are those that are to be counted.
type texts struct {
	list []*keptText
	size int // bytes, about
}

// keptText is a request with the text of its answer.
type keptText struct {
	finished
	sample  backends.Sample
	pending *pendingRequest // that has its delay; nil: it has none
}

// keepText keeps the text of an answer to be counted, or counts it. nil: it is not kept.
func (f *Folder) keepText(x *finished) *keptText {
	if f.c.Count == nil || !x.due && !x.completed || !answered(x.Sample) || len(x.Text) == 0 {
		return nil
	}
	if f.c.CountAtOnce {
		x.countText(f.c.Count)
		f.tell(x)
		return nil
	}
	k := &keptText{finished: *x, sample: *x.Sample}
	k.sample.Text, k.sample.Note, k.sample.Events = append([]byte(nil), x.Text...), nil, nil
	k.Sample, k.partial = &k.sample, nil
	if _, used := x.OutputTokens.Get(); !used {
		x.portion, k.portion = withoutTokens, ofTokens
	}
	f.texts.add(k)
	return k
}

func (t *texts) add(k *keptText) {
	t.list = append(t.list, k)
	t.size += k.size()
}

// size returns about how many bytes k takes.
func (k *keptText) size() int { return 512 + len(k.sample.Text) }

// take removes texts whose requests have a final delay from the first on, until they have bytes together.
func (t *texts) take(bytes int) (list []*keptText) {
	var waiting []*keptText
	rest := t.list
	for len(rest) > 0 && bytes > 0 {
		k := rest[0]
		rest[0], rest = nil, rest[1:]
		if k.pending != nil && !k.pending.final {
			waiting = append(waiting, k)
			continue
		}
		list = append(list, k)
		bytes -= k.size()
		t.size -= k.size()
	}
	if len(waiting) > 0 {
		rest = append(waiting, rest...)
	}
	t.list = rest
	return list
}

// countText enters the number of an answer's tokens.
func (x *finished) countText(count func(*backends.Sample) (int, bool)) {
	n, ok := count(x.Sample)
	if !ok {
		return
	}
	x.tokenized = backends.CountOf(int64(n))
	if _, used := x.OutputTokens.Get(); !used {
		x.OutputTokens, x.byTokenizer = x.tokenized, true
	}
}

// countTexts counts kept texts, the oldest first, until they have bytes together, and adds what needs their tokens.
func (f *Folder) countTexts(bytes int, start int64) {
	list := f.texts.take(bytes)
	var workers sync.WaitGroup
	n := runtime.GOMAXPROCS(0)
	if f.c.Beside {
		n = 1
	}
	for i := range n {
		workers.Go(func() {
			for k := i; k < len(list); k += n {
				list[k].countText(f.c.Count)
			}
		})
	}
	workers.Wait()
	for _, k := range list {
		f.countText(k, start)
	}
}

// countText adds what needs the tokens of an answer, which have been counted.
func (f *Folder) countText(k *keptText, start int64) {
	f.tell(&k.finished)
	if k.portion == everything { // it has been, by its usage
		if k.due {
			f.aggregateAt(k.dueAt).Tokenized.add(&k.finished)
		}
		return
	}
	k.good = f.bounds != nil && good(f.bounds, &k.finished)
	f.count(&k.finished)
	if k.pending != nil {
		p := &pendingRequest{finished: k.finished}
		p.delay = k.pending.delay
		f.countPending(p, start, k.pending.end)
	}
}

// tell tells the number of tokens that stands for usage.
func (f *Folder) tell(x *finished) {
	if n, ok := x.tokenized.Get(); ok && x.byTokenizer && f.c.Counted != nil {
		f.c.Counted(x.ID, n)
	}
}
