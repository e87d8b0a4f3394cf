// Package inprocess is the backend triton_inprocess: Triton's server library is loaded into this
// process and called without a network. A binary built with the tag inprocess can run it; any other
// binary only knows the kind, so that plans can be checked and drawn.
//
// It is not: a build of Triton, a way to measure a network, a second reader of Triton's statistics
// and metadata (triton and kserve have them).
package inprocess

import (
	"errors"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/triton"
)

// Kind returns the backend "triton_inprocess". Targets with the same server share it.
func Kind() backends.Kind {
	k := backends.Kind{
		Name: "triton_inprocess",
		Help: "Triton's server library inside this process, without a network",
		Keys: []string{
			"model", "model_version", "inprocess", "parameters", "composing_models", "timeout",
			"inactivity_timeout",
			"streaming",
			"statistics", "endpoint",
		},
		Endpoints: []string{"infer"},
		Abilities: abilities,
		Series:    triton.Series(),
		Check:     check,
	}
	k.Open, k.Missing = opener()
	return k
}

// abilities returns the abilities of a target. There is no shared memory ability: all requests are
// already in memory that the server reads.
func abilities(t backends.Target) backends.Ability {
	a := backends.Unary | backends.Metadata | backends.ServerStats | backends.Tensors |
		backends.Expects | backends.Sequences | backends.ModelControl | backends.Composing |
		backends.SharesProcess
	if t.Streaming {
		a |= backends.Stream
	}
	return a
}

// check looks for the library, and checks the options.
func check(t backends.Target) error {
	if t.InProcess == nil {
		return nil // the plan is refused elsewhere
	}
	errs := []error{find(t.InProcess.ServerDir)}
	for _, p := range t.InProcess.Options {
		_, err := settings(p)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
