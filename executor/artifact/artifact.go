// Package artifact writes a result as files and as tables for a terminal. It is the only importer
// of tablewriter. It computes no measurements and judges nothing; all numbers are in the result.
package artifact

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/executor/artifact/perfanalyzer"
	"github.com/sluice-bench/sluice/executor/result"
)

// Options select what is written.
type Options struct {
	Formats     []string  // of the plan's output.formats; json is always written
	Percentiles []float64 // columns of distributions in every table and file
	Samples     *Samples  // recorded requests, closed; nil: not recorded
	Mixed       bool      // the run has closed and open loops, so perf_analyzer's tables are separate
	// Configured lists the models whose configuration the best node of a stage decides.
	Configured []Configured
	// Fail records in the result that a file could not be written, so that no file contradicts it.
	// It may be nil.
	Fail func(*result.Result, error)
}

const resultName = "result.json"

// file is one artifact before it is written.
type file = perfanalyzer.Table

// writer makes the files of one format.
type writer struct {
	format string
	name   string                                        // of the file
	render func(*result.Result, Options) ([]byte, error) // nil: perf_analyzer's tables
}

// writers lists the formats. json is the last, because it lists the files of the others.
var writers = []writer{
	{"csv", "stages.csv", stagesCSV},
	{"timeline_csv", "timeline.csv", timelineCSV},
	{"perf_analyzer_csv", "", nil},
	{"junit", "junit.xml", junitXML},
	{"markdown", "summary.md", summaryMarkdown},
	{bestFormat, configName, nil},
	{"json", resultName, resultJSON},
}

// bestFormat names the configurations of the best nodes among the writers. No plan asks for it: they are
// written whenever a stage that sets configurations says which is the best.
const bestFormat = ""

// names returns the names of the files, without those of models that the server names.
func (w writer) names(o Options) []string {
	if w.format == bestFormat {
		return o.configNames()
	}
	if w.render == nil {
		return perfanalyzer.Names(o.Mixed)
	}
	return []string{w.name}
}

func (w writer) files(r *result.Result, o Options) ([]file, error) {
	if w.format == bestFormat {
		return bestConfigurations(r, o), nil
	}
	if w.render == nil {
		return perfanalyzer.Tables(r, o.Percentiles)
	}
	data, err := w.render(r, o)
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", w.name, err)
	}
	return []file{{Name: w.name, Data: data}}, nil
}

// ProfileExport is the format made from every request of a run: it needs Options.Samples.
const ProfileExport = "profile_export"

// Formats returns the names of the formats that Write supports.
func Formats() []string {
	words := append([]string{ProfileExport}, LLMFormats()...)
	for _, w := range writers {
		if w.format != bestFormat {
			words = append(words, w.format)
		}
	}
	return words
}

func (o Options) wants(format string) bool {
	return format == "json" || format == bestFormat || slices.Contains(o.Formats, format)
}

// names returns the files that a run may write, result.json first. Tables of models named by the
// server are not included.
func (o Options) names() []string {
	list := []string{resultName}
	for _, w := range writers {
		if o.wants(w.format) && w.format != "json" {
			list = append(list, w.names(o)...)
		}
	}
	return append(list, o.Samples.names(o)...)
}

// check returns an error for unknown formats.
func (o Options) check() error {
	var errs []error
	for _, f := range append([]string{ProfileExport}, LLMFormats()...) {
		if o.Samples == nil && o.wants(f) {
			errs = append(errs, fmt.Errorf("%s is made of the requests of a run, and they were not kept", f))
		}
	}
	for _, f := range o.Formats {
		if !slices.Contains(Formats(), f) {
			errs = append(errs, fmt.Errorf("unknown format %q, one of %s", f, strings.Join(Formats(), " ")))
		}
	}
	return errors.Join(errs...)
}

// Write writes the files of r and returns their paths. Each file appears whole or not at all. If
// one cannot be written the others are still written, and all agree with the result after
// Options.Fail: all are made before the first gets its name, and made again after a failure.
// result.json is the last; without it no file stays, as no later run could replace it. Write may be
// called again after the result has changed. It returns the joined errors of all files.
func (f *Folder) Write(r *result.Result, o Options) ([]string, error) {
	var errs []error
	fail := func(err error) {
		if err != nil {
			errs = append(errs, err)
			if o.Fail != nil {
				o.Fail(r, errors.Join(errs...))
			}
		}
	}
	fail(errors.Join(f.removeEarlier(), o.check()))
	skip := map[string]bool{} // files that cannot be written
	for {
		staged, err := f.stage(r, o, skip)
		if err == nil && !f.sampled {
			f.sampled = true
			f.samples, err = o.Samples.files(f, r, o)
		}
		if err == nil {
			err = f.commit(staged, skip)
		}
		if err == nil {
			break
		}
		for _, s := range staged {
			err = errors.Join(err, s.remove())
		}
		fail(err)
	}
	for name := range skip {
		errs = append(errs, f.remove(name)) // left by an earlier Write
	}
	var paths []string
	for _, name := range r.Files {
		if !f.own[resultName] {
			errs = append(errs, f.remove(name))
		} else if !skip[name] {
			paths = append(paths, filepath.Join(f.dir, name))
		}
	}
	return paths, errors.Join(errs...)
}

// stage writes every file of r under a temporary name, except those in skip, to which it adds files
// that cannot be written. It sets r.Files.
func (f *Folder) stage(r *result.Result, o Options, skip map[string]bool) (all []*temporary, err error) {
	var errs []error
	r.Files = append([]string{resultName}, f.samples...)
	if !f.sampled {
		r.Files = append(r.Files, o.Samples.names(o)...)
		if o.Samples != nil && o.Samples.o.LLM {
			r.Files = append(r.Files, moreNames(o, r)...)
		}
	}
	for _, w := range writers {
		if !o.wants(w.format) || skip[w.format] {
			continue
		}
		if w.format == "json" {
			slices.Sort(r.Files[1:])
		}
		files, err := w.files(r, o)
		if err != nil {
			skip[w.format] = true
			for _, name := range w.names(o) {
				skip[name] = true
			}
			errs = append(errs, err)
		}
		for _, x := range files {
			if skip[x.Name] {
				continue
			}
			var t *temporary
			err := f.mayWrite(x.Name)
			if err == nil {
				err = o.Samples.makeRoom(func() (err error) {
					t, err = f.temporary(x.Name, x.Data)
					return err
				})
			}
			if err != nil {
				skip[x.Name] = true
				errs = append(errs, fmt.Errorf("write %s: %w", x.Name, err))
				continue
			}
			if all = append(all, t); x.Name != resultName {
				r.Files = append(r.Files, x.Name)
			}
		}
	}
	return all, errors.Join(errs...)
}

// commit renames the staged files.
func (f *Folder) commit(staged []*temporary, skip map[string]bool) error {
	for _, t := range staged {
		if err := f.rename(t); err != nil {
			skip[t.name] = true
			return err
		}
		f.judged = f.judged || t.name == resultName
	}
	return nil
}

func resultJSON(r *result.Result, _ Options) ([]byte, error) {
	var b bytes.Buffer
	err := result.Write(&b, r)
	return b.Bytes(), err
}
