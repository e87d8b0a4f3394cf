// Package all lists the backends that this binary knows. A kind without Open is known but cannot
// run.
//
// It is not: a registry; it contains no logic.
package all

import (
	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/grpc"
	"github.com/sluice-bench/sluice/backends/http"
	"github.com/sluice-bench/sluice/backends/kserve"
	"github.com/sluice-bench/sluice/backends/openai"
	"github.com/sluice-bench/sluice/backends/tfserving"
	"github.com/sluice-bench/sluice/backends/torchserve"
	"github.com/sluice-bench/sluice/backends/triton"
	inprocess "github.com/sluice-bench/sluice/backends/triton_inprocess"
)

// Kinds returns every backend, in display order.
func Kinds() []backends.Kind {
	return []backends.Kind{
		kserve.Kind(), triton.Kind(), inprocess.Kind(), openai.Kind(), torchserve.Kind(), grpc.Kind(),
		tfserving.Kind(), http.Kind(),
	}
}
