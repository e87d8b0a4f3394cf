package format

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/backends"
)

// TensorFile is a file that holds a tensor, or one for each row.
type TensorFile struct {
	From  *Origin
	Name  string // without the folder: the tensor's, maybe with an extension
	text  []byte
	array *Array // nil: not NumPy's
}

// rawExtensions lists the extensions of files that hold one tensor; a tensor's name may be followed by
// one of them.
var rawExtensions = [...]string{".npy", ".raw", ".bin", ".txt", ".jpg", ".jpeg", ".png"}

// readTensorFile reads a file of format raw or npy.
func (r *reader) readTensorFile(format string, data []byte) error {
	f := TensorFile{From: r.from, Name: filepath.Base(r.from.Name), text: data}
	r.from.Unit = "row"
	if format == formatNpy || format == "" && bytes.HasPrefix(data, []byte(NpyMagic)) {
		var err error
		if f.array, err = ParseNpy(data); err != nil {
			return err
		}
	}
	r.Tensors = append(r.Tensors, f)
	return nil
}

// Stem returns a file's name without a known extension.
func Stem(name string) string {
	if ext := filepath.Ext(name); slices.Contains(rawExtensions[:], strings.ToLower(ext)) {
		return strings.TrimSuffix(name, ext)
	}
	return name
}

// readFolder reads the files of a folder: one for each tensor, named after it. Hidden files are
// left alone.
func (r *reader) readFolder(name, format string) error {
	entries, err := os.ReadDir(name)
	if err != nil {
		return err
	}
	pos := r.from.Pos
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		r.from = &Origin{Name: filepath.Join(filepath.Base(name), e.Name()), Pos: pos}
		data, err := ReadFile(filepath.Join(name, e.Name()), r.left)
		if err != nil {
			return fmt.Errorf("%s: %w", e.Name(), err)
		}
		r.left -= int64(len(data))
		if err := r.readTensorFile(format, data); err != nil {
			return fmt.Errorf("%s: %w", e.Name(), err)
		}
	}
	if len(r.Tensors) == 0 {
		return errors.New("the folder holds no files")
	}
	return nil
}

// Rows counts the rows of a file: an array with a dimension more than the model's tensor holds one in
// each entry of the first; -1: the whole is one tensor.
func (f *TensorFile) Rows(p backends.Port) int {
	if f.array == nil || len(f.array.shape) != len(p.Shape)+1 {
		return -1
	}
	return f.array.rows()
}

// Values returns the rows of a file.
func (f *TensorFile) Values(p backends.Port) []Value {
	rows := f.Rows(p)
	switch {
	case f.array == nil:
		return []Value{{Form: Content, Text: f.text}}
	case rows < 0:
		return []Value{{Form: ArrayRow, Array: f.array, ArrayRow: -1}}
	}
	list := make([]Value, rows)
	for i := range list {
		list[i] = Value{Form: ArrayRow, Array: f.array, ArrayRow: i}
	}
	return list
}
