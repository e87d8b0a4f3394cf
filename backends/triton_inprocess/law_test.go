//go:build inprocess

package inprocess

import (
	"context"
	"fmt"
	"testing"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/backendtest"
)

// local is Kind with the fault's script in the place of a URL, which this backend has none of.
func local(t *testing.T, s *standin) backends.Kind {
	k := Kind()
	open := k.Open
	k.Open = func(ctx context.Context, target backends.Target, clock backends.Clock) (backends.Conn, error) {
		script := target.URL
		target.URL = ""
		target.InProcess = s.target(t, script).InProcess
		return open(ctx, target, clock)
	}
	return k
}

func suite(t *testing.T) backendtest.Suite {
	scripts := map[backendtest.Fault]string{
		backendtest.None:        "last",
		backendtest.Delay:       fmt.Sprintf("wait %d; last", backendtest.Pause.Milliseconds()),
		backendtest.SlowBody:    fmt.Sprintf("respond 1; wait %d; final", backendtest.Pause.Milliseconds()),
		backendtest.WrongLength: "long; last",
		backendtest.Failure:     "error " + backendtest.FailureText,
		backendtest.Malformed:   "broken; last",
		backendtest.Never:       "cancelled",
	}
	servers, without := backendtest.Servers{}, map[backendtest.Fault]string{
		backendtest.SlowHead: "a response is there at once",
		backendtest.Refused:  "the server lives as long as the process",
		backendtest.BadTLS:   "there is no network",
	}
	for _, f := range []backendtest.Fault{
		backendtest.ResetBefore, backendtest.ResetBody, backendtest.ShortBody, backendtest.CloseAfter,
		backendtest.CloseUnder, backendtest.CloseIdle,
	} {
		without[f] = "there is no connection"
	}
	for fault, script := range scripts {
		servers[fault] = func(testing.TB) backendtest.Server { return backendtest.Server{URL: script} }
	}
	return backendtest.Suite{
		Kind: local(t, ready(t)), Target: backends.Target{Model: "m"}, Request: ask(), Servers: servers,
		Without: without,
		Shared:  true, // nothing is dialled
		Classes: map[backendtest.Fault][]backends.ErrorClass{
			backendtest.Malformed: {backends.Decode},
		},
	}
}

func TestLaw(t *testing.T) { backendtest.Run(t, suite(t)) }

func TestLawStreaming(t *testing.T) {
	s := suite(t)
	s.Target.Streaming = true
	backendtest.Run(t, s)
}

// TestLawAtOnce: a server may answer before the function that sends has returned, and release
// requests before it answers.
func TestLawAtOnce(t *testing.T) {
	for name, script := range map[string]string{
		"at once": "now; last", "released first": "release; last", "at once, released first": "now; release; last",
	} {
		t.Run(name, func(t *testing.T) {
			s := suite(t)
			s.Servers[backendtest.None] = func(testing.TB) backendtest.Server {
				return backendtest.Server{
					URL: script,
				}
			}
			backendtest.Run(t, s)
		})
	}
}

func TestSequences(t *testing.T) {
	s := ready(t)
	backendtest.Sequences(t, Kind(), map[string]backends.Target{"no network": {InProcess: &backends.InProcess{
		ServerDir: s.dir,
		Repository: repository(t,
			map[string]string{"sequence_acc": "sum; last", "sequence_acc_string": "sum; last"}),
	}}})
}
