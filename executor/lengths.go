package executor

import (
	"slices"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/trial"
)

// maxWays limits the ways in which a server is asked for exact lengths.
const maxWays = 4

// learnLengths asks the server for the answer to the last request that wants one of an exact number of
// tokens, as that is not measured first, so that all are made in the way that this server keeps to. A target that is not to be asked is
// taken to keep to the first one.
func (su *setup) learnLengths(t *target, e *trial.Entry, requests []backends.Request, sent *int) error {
	x, ok := t.Conn.(backends.Lengther)
	if !ok || !t.Plan.Probe {
		return nil
	}
	for _, r := range slices.Backward(requests) {
		if !slices.ContainsFunc(r.Rows, wantsExactly) {
			continue
		}
		call, err := t.Conn.Prepare(r)
		if err != nil {
			return nil // encoding it says so
		}
		for range maxWays {
			if !x.AsksExactly(call) {
				break
			}
			s, err := su.firstReply(t, call, e.IDs, sent)
			if err != nil || s == nil {
				return err
			}
			note, again := x.Learn(call, s)
			if e.Lengths == "" {
				e.Lengths = note
			}
			if !again {
				break
			}
			if call, err = t.Conn.Prepare(r); err != nil {
				return nil //nolint:nilerr // encoding it says so
			}
		}
	}
	return nil
}

// wantsExactly reports whether a row may want an exact number of tokens.
func wantsExactly(row []backends.Member) bool {
	return slices.ContainsFunc(row, func(m backends.Member) bool { return m.Name == backends.ExactOutput })
}
