package scenario

import (
	"io/fs"
	"os"
	"path/filepath"

	"github.com/sluice-bench/sluice/scenario/layer"
	"github.com/sluice-bench/sluice/scenario/regular"
	"github.com/sluice-bench/sluice/schema"
)

// maxBaseline is the largest size of a baseline in bytes: 3,600 slices of a node are 0.7 MB.
const maxBaseline = 256 << 20

// Named reports whether the command line names the result: it is then meant, whatever IfMissing says.
func (b *Baseline) Named() bool { return b.File.Pos.File == layer.FlagBaseline }

// Read gives the bytes of the stored result, checked against the schema of results. An error that is
// fs.ErrNotExist means that there is none; any other is a mistake.
func (b *Baseline) Read() ([]byte, error) {
	data, err := readBaseline(b.File.Name)
	if err != nil {
		return nil, err
	}
	return data, schema.ValidateResult(data)
}

// Folder calls read with each result of the folder that the command line names: the JSON files in it
// that are results, and the result.json of each folder in it. False: it names a file.
func (b *Baseline) Folder(read func(file string, data []byte)) bool {
	if info, err := os.Stat(b.File.Name); err != nil || !info.IsDir() || !b.Named() {
		return false
	}
	for _, pattern := range []string{"*.json", "*/result.json"} {
		files, _ := fs.Glob(os.DirFS(b.File.Name), pattern) // it fails for bad patterns only
		for _, file := range files {
			file = filepath.Join(b.File.Name, file)
			if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
				continue
			}
			if data, err := readBaseline(file); err == nil && schema.ValidateResult(data) == nil {
				read(file, data)
			}
		}
	}
	return true
}

func readBaseline(file string) ([]byte, error) {
	data, err := regular.Read(file, maxBaseline)
	if err != nil {
		return nil, layer.Cause(err)
	}
	return data, nil
}
