package executor

import (
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/sluice-bench/sluice/executor/result"
)

// Bounds of the time that goes into writing interim results, of which each costs more, the more
// nodes have ended.
const (
	interimShare = 0.02 // of the time of the run
	interimFree  = 500 * time.Millisecond
)

// interim keeps the result of a run that goes on: what it is about, and the nodes that have ended,
// as they were then.
type interim struct {
	save func(*result.Result) error // nil: nothing is kept
	mask func(string) string

	mu    sync.Mutex
	shown result.Result
	began time.Time
	spent time.Duration // by all saves
	took  time.Duration // by the latest save
	later *time.Timer   // saves nodes that ended too soon after a save; nil: none
	over  bool
}

// begin saves a result without nodes, before anything is sent. Its error says why the run must not
// begin.
func (i *interim) begin(r *result.Result) error {
	if i.save == nil {
		return nil
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.began, i.shown = time.Now(), *r
	i.shown.Redact(i.mask)
	return i.write()
}

// add saves a node that has ended, now or soon, in place of an earlier attempt at it.
func (i *interim) add(n *result.Node) {
	if i.save == nil {
		return
	}
	node := new(result.Node) // a copy that nothing changes any more
	data, err := json.Marshal(n)
	if err != nil || json.Unmarshal(data, node) != nil {
		return // the whole result will fail in the same way, and say so
	}
	node.Redact(i.mask)
	i.mu.Lock()
	defer i.mu.Unlock()
	if at := slices.IndexFunc(i.shown.Nodes, func(n *result.Node) bool { return n.ID == node.ID }); at >= 0 {
		i.shown.Nodes = slices.Delete(slices.Clone(i.shown.Nodes), at, at+1) // what was saved may be kept
	}
	if i.shown.Nodes = append(i.shown.Nodes, node); i.later != nil || i.over {
		return
	}
	due := time.Duration(float64(i.spent+i.took-interimFree) / interimShare) // since it began
	if wait := due - time.Since(i.began); wait > 0 {
		i.later = time.AfterFunc(wait, i.catchUp)
		return
	}
	_ = i.write() // the next one, or the result, may succeed
}

// catchUp saves the nodes that ended too soon after a save.
func (i *interim) catchUp() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.later = nil; !i.over {
		_ = i.write()
	}
}

// write saves what there is. The caller has the lock.
func (i *interim) write() error {
	begin := time.Now()
	shown := i.shown
	err := i.save(&shown)
	i.took = time.Since(begin)
	i.spent += i.took
	return err
}

// end makes sure that nothing is saved any more: what follows is the result.
func (i *interim) end() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.over = true; i.later != nil {
		i.later.Stop()
	}
}
