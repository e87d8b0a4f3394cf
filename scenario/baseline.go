package scenario

import (
	"fmt"
	"io"
	"os"

	"github.com/sluice-bench/sluice/schema"
)

// maxBaseline is how large a baseline may be: 3,600 slices of a node are 0.7 MB.
const maxBaseline = 256 << 20

// Read gives the bytes of the stored result, checked against the schema of results. An error that is fs.ErrNotExist means
// that there is none; any other is a mistake.
func (b *Baseline) Read() ([]byte, error) {
	f, err := os.Open(b.File.Name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxBaseline+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxBaseline {
		return nil, fmt.Errorf("it is larger than %d MiB", maxBaseline>>20)
	}
	return data, schema.ValidateResult(data)
}
