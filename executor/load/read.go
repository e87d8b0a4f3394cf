package load

import (
	"errors"
	"io"
)

// ReadGaps reads one gap a line, in unit ns. Errors name the line.
func ReadGaps(r io.Reader, unit int64) ([]int64, error) { return nil, errors.New("not read yet") }

// ReadTimes reads ascending times, in unit ns, from a file called name: JSON lines with a "timestamp" (.jsonl), CSV with a
// header that has a column "timestamp" (.csv), or one number a line. Errors name the line.
func ReadTimes(r io.Reader, name string, unit int64) ([]int64, error) {
	return nil, errors.New("not read yet")
}
