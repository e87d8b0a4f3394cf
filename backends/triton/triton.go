// Package triton is the KServe v2 protocol with what Triton Inference Server adds to it: statistics.
//
// It is not: a second encoder of requests (kserve has the only one).
package triton

import (
	"context"
	"errors"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/kserve"
)

// Kind is the backend "triton".
func Kind() backends.Kind {
	return backends.Kind{
		Name:    "triton",
		Help:    "Triton Inference Server over HTTP or gRPC, with its statistics",
		Schemes: kserve.Schemes(),
		Keys:    append(kserve.Keys(), "statistics"),
		Abilities: func(t backends.Target) backends.Ability {
			return kserve.Abilities(t) | backends.ServerStats
		},
		Series: Series(),
		Open: func(context.Context, backends.Target, backends.Clock) (backends.Conn, error) {
			return nil, errors.ErrUnsupported
		},
	}
}
