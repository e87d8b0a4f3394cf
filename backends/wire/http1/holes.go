package http1

import (
	"fmt"

	"github.com/sluice-bench/sluice/backends"
)

// Widths of holes: any uint64, and the longer of true and false.
const (
	numberWidth = 20
	boolWidth   = len("false")
)

// fill writes a field's value into its hole: digits as they are, numbers and booleans as JSON
// padded with spaces.
func fill(to []byte, field uint8, f *backends.Fields) {
	switch v := f.Value(field); {
	case field != backends.FieldStart && field != backends.FieldEnd:
		backends.PutDigits(to, v)
		// JSON does not allow leading zeros
		for i := 0; field == backends.FieldSequence && i < len(to)-1 && to[i] == '0'; i++ {
			to[i] = ' '
		}
	case v == 1:
		copy(to, "true ")
	default:
		copy(to, "false")
	}
}

// checkHole returns an error if a hole is not valid in a prefix of size bytes.
func checkHole(h backends.Hole, size int) error {
	narrow := 1
	switch h.Field {
	case backends.FieldSequence:
		narrow = numberWidth
	case backends.FieldStart, backends.FieldEnd:
		narrow = boolWidth
	case backends.FieldID, backends.FieldSequenceText, backends.FieldRegion:
	default:
		if h.Field < backends.FieldCounter {
			return fmt.Errorf("hole %+v has no known field", h)
		}
	}
	if int(h.Width) < narrow || int(h.At)+int(h.Width) > size {
		return fmt.Errorf("hole %+v is narrower than %d bytes or outside a prefix of %d", h, narrow, size)
	}
	return nil
}
