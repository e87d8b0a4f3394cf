package endpoint

import (
	"errors"

	"github.com/sluice-bench/sluice/backends"
)

// CheckWhole refuses parts of a request that only kinds with tensors have.
func CheckWhole(r *backends.Request) error {
	switch {
	case len(r.Parameters) > 0:
		return errors.New("parameters cannot be added to a whole body: write them into it")
	case len(r.Outputs) > 0:
		return errors.New("outputs cannot be requested with a whole body: write them into it")
	case r.Sequence != nil:
		return errors.New("a whole body cannot be made part of a sequence")
	}
	return nil
}
