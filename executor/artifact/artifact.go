// Package artifact writes a result as files and as tables for a terminal. It is the only importer of tablewriter.
//
// It is not: a computer of numbers (all are in the result), a judge, a place for metric names, except in the layout of
// perf_analyzer's CSV, which others fixed.
package artifact

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/executor/result"
)

// Options say what is written.
type Options struct {
	Formats     []string  // words of the plan's output.formats; json is always written
	Percentiles []float64 // columns of distributions in every table and file
	Samples     *Samples  // the requests that were kept, closed; nil: none were
}

// file is one artifact before it is written.
type file struct {
	name string
	data []byte
}

// writers is how each word of output.formats is made. json comes first: whatever happens to the rest, it is there.
var writers = []struct {
	format string
	render func(*result.Result, Options) ([]file, error)
}{
	{"json", one("result.json", resultJSON)},
	{"csv", one("stages.csv", stagesCSV)},
	{"perf_analyzer_csv", perfAnalyzerCSV},
	{"junit", one("junit.xml", junitXML)},
	{"markdown", one("summary.md", summaryMarkdown)},
}

// ProfileExport is the format that is made of every request of a run: it needs Options.Samples.
const ProfileExport = "profile_export"

// Formats are the words that Write knows.
func Formats() []string {
	words := []string{ProfileExport}
	for _, w := range writers {
		words = append(words, w.format)
	}
	return words
}

func one(name string, render func(*result.Result, Options) ([]byte, error)) func(*result.Result, Options) ([]file, error) {
	return func(r *result.Result, o Options) ([]file, error) {
		data, err := render(r, o)
		if err != nil {
			return nil, fmt.Errorf("write %s: %w", name, err)
		}
		return []file{{name, data}}, nil
	}
}

// Write writes r into dir, which it makes if need be, and returns the paths of what it wrote. Each file appears whole or
// not at all. One that cannot be written does not keep the others from being written; the error tells of all.
func Write(dir string, r *result.Result, o Options) ([]string, error) {
	want := map[string]bool{"json": true}
	for _, f := range o.Formats {
		want[f] = true
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make result folder: %w", err)
	}
	var paths []string
	var errs []error
	for _, w := range writers {
		if !want[w.format] {
			continue
		}
		delete(want, w.format)
		files, err := w.render(r, o)
		errs = append(errs, err)
		for _, f := range files {
			path := filepath.Join(dir, f.name)
			if err := o.Samples.room(func() error { return replace(path, f.data) }); err != nil {
				errs = append(errs, err)
				continue
			}
			paths = append(paths, path)
		}
	}
	if o.Samples != nil {
		more, err := o.Samples.files(r, want[ProfileExport])
		paths, errs = append(paths, more...), append(errs, err)
		delete(want, ProfileExport)
	}
	if want[ProfileExport] {
		errs = append(errs, fmt.Errorf("%s is made of the requests of a run, and they were not kept", ProfileExport))
		delete(want, ProfileExport)
	}
	errs = append(errs, clear(dir, paths))
	for _, f := range o.Formats {
		if want[f] {
			errs = append(errs, fmt.Errorf("unknown format %q, one of %s", f, strings.Join(Formats(), " ")))
			delete(want, f)
		}
	}
	return paths, errors.Join(errs...)
}

// Prepare makes dir and finds out whether files can be written there, before anything is measured for it.
func Prepare(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make result folder: %w", err)
	}
	probe, err := os.CreateTemp(dir, ".probe.*")
	if err != nil {
		return fmt.Errorf("write into the result folder: %w", err)
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// clear removes the artifacts of an earlier run in dir that this one did not write: they would pass for its own.
func clear(dir string, written []string) error {
	entries, err := os.ReadDir(dir)
	errs := []error{err}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		ours := slices.Contains([]string{"result.json", "stages.csv", "junit.xml", "summary.md", "samples.csv", "samples.jsonl", "profile_export.json"}, e.Name()) ||
			strings.HasPrefix(e.Name(), "perf_analyzer") && strings.HasSuffix(e.Name(), ".csv") ||
			strings.HasSuffix(e.Name(), ".perf_analyzer.csv") || strings.HasSuffix(e.Name(), ".perf_analyzer_"+paRate+".csv")
		if ours && !slices.Contains(written, path) {
			errs = append(errs, os.Remove(path))
		}
	}
	return errors.Join(errs...)
}

// replace puts data at path in one step, readable by its owner only.
func replace(path string, data []byte) error {
	t, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	_, err = t.Write(data)
	err = errors.Join(err, t.Chmod(0o600), t.Close())
	if err == nil {
		err = os.Rename(t.Name(), path)
	}
	if err != nil {
		if gone := os.Remove(t.Name()); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
		return fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	return nil
}

func resultJSON(r *result.Result, _ Options) ([]byte, error) {
	var b bytes.Buffer
	err := result.Write(&b, r)
	return b.Bytes(), err
}
