package layer

import (
	"errors"
	"io"
	"io/fs"
	"math"
	"path/filepath"

	"github.com/sluice-bench/sluice/scenario/regular"
)

// ReadSome reads a file up to a little more than a plan may have, so that source can say that it is
// too large.
func ReadSome(file string) ([]byte, error) {
	f, err := regular.Open(file, math.MaxInt64-1)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, 2<<20))
}

// Cause is an error of the file system without the path, which the message names already.
func Cause(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// ResolvePath makes a path of the plan relative to the plan's folder.
func ResolvePath(dir, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}
