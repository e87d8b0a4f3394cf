package feed

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// tensorFile is a file that holds a tensor, or one for each row.
type tensorFile struct {
	from  *origin
	name  string // without the folder: the tensor's, maybe with an extension
	text  []byte
	array *array // nil: not NumPy's
}

// rawExtensions are those of files that hold nothing but one tensor; a tensor's name may be followed by one of them.
var rawExtensions = [...]string{".npy", ".raw", ".bin", ".txt", ".jpg", ".jpeg", ".png"}

// readTensorFile reads a file of format raw or npy.
func (r *reader) readTensorFile(format string, data []byte) error {
	f := tensorFile{from: r.from, name: filepath.Base(r.from.name), text: data}
	r.from.unit = "row"
	if format == formatNpy || format == "" && bytes.HasPrefix(data, []byte(npyMagic)) {
		a, err := parseNpy(data)
		if err != nil {
			return err
		}
		f.array = a
	}
	r.tensors = append(r.tensors, f)
	return nil
}

// stem is a file's name without a known extension.
func stem(name string) string {
	if ext := filepath.Ext(name); slices.Contains(rawExtensions[:], strings.ToLower(ext)) {
		return strings.TrimSuffix(name, ext)
	}
	return name
}

// readFolder reads the files of a folder: one for each tensor, named after it. Hidden files are left alone.
func (r *reader) readFolder(name, format string) error {
	entries, err := os.ReadDir(name)
	if err != nil {
		return err
	}
	pos := r.from.pos
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		r.from = &origin{name: filepath.Join(filepath.Base(name), e.Name()), pos: pos}
		data, err := readLimited(filepath.Join(name, e.Name()), r.left)
		if err != nil {
			return fmt.Errorf("%s: %w", e.Name(), err)
		}
		r.left -= int64(len(data))
		if err := r.readTensorFile(format, data); err != nil {
			return fmt.Errorf("%s: %w", e.Name(), err)
		}
	}
	if len(r.tensors) == 0 {
		return errors.New("the folder holds no files")
	}
	return nil
}
