package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sluice-bench/sluice/executor/artifact/llm"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario/convert"
)

// runConverted runs a converted plan and writes the files of the command line as perf_analyzer
// does. Like perf_analyzer it refuses to overwrite an export, before anything is sent.
func (a *app) runConverted(t convert.Tool, out convert.Converted, f convertFlags) error {
	if _, err := os.Lstat(out.Export); out.Export != "" && err == nil {
		return fmt.Errorf("--profile-export-file %q exists; nothing was sent", out.Export)
	}
	for _, f := range [...]struct{ option, path string }{
		{"-f", out.CSV}, {"--profile-export-file", out.Export},
	} {
		if err := writable(f.path); err != nil {
			return fmt.Errorf("%s: %w; nothing was sent", f.option, err)
		}
	}
	if len(out.Files) > 0 {
		if err := writable(filepath.Join(out.Folder, out.Files[0].Name)); err != nil {
			return fmt.Errorf("folder of the artifacts: %w; nothing was sent", err)
		}
	}
	if out.Dated {
		out.Files = dated(out, time.Now())
	}
	file, o := f.plan, overrides{}
	if file == "" {
		file, o = convertedPlan, overrides{name: convertedPlan, text: []byte(out.Plan)}
	}
	summary := ""
	if t.Name == "perf-analyzer" {
		summary = "perf_analyzer"
	}
	return a.runPlan(file, o, outputs{
		dir: f.out, summary: summary,
		afterWrite: func(dir string, r *result.Result) error {
			if len(llm.MeasuredNodes(r)) == 0 { // what an earlier run has left is better than nothing
				a.report("nothing was measured: the files of the command line are not written\n")
				return nil
			}
			return keepConverted(dir, out)
		},
	})
}

// writable returns an error if a file cannot be written; "" is no file. An existing file is not
// changed. A pipe is not tried: its reader would see the end of the file.
func writable(path string) error {
	if path == "" {
		return nil
	}
	if info, err := os.Stat(path); err == nil && info.Mode()&os.ModeNamedPipe != 0 {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	_, missing := os.Lstat(path)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o666)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil || missing == nil {
		return err
	}
	return os.Remove(path)
}

// keepConverted copies the artifacts in dir to the paths of the command line. With -f DIR/FILE the
// tables of composing models are DIR/MODEL.FILE.
func keepConverted(dir string, out convert.Converted) error {
	var errs []error
	if out.CSV != "" {
		name := "perf_analyzer"
		if out.Wide {
			name += "_verbose"
		}
		errs = append(errs, copyFile(filepath.Join(dir, name+".csv"), out.CSV))
		models, err := filepath.Glob(filepath.Join(dir, "*.perf_analyzer.csv"))
		errs = append(errs, err)
		for _, m := range models {
			model := strings.TrimSuffix(filepath.Base(m), ".perf_analyzer.csv")
			errs = append(errs, copyFile(m, filepath.Join(filepath.Dir(out.CSV),
				model+"."+filepath.Base(out.CSV))))
		}
	}
	if out.Export != "" {
		errs = append(errs, copyFile(filepath.Join(dir, "profile_export.json"), out.Export))
	}
	copyFile := copyFile
	if out.Append {
		copyFile = appendFile
	}
	for _, f := range out.Files {
		errs = append(errs, copyFile(filepath.Join(dir, f.Result), filepath.Join(out.Folder, f.Name)))
		further, err := filepath.Glob(filepath.Join(dir, "*."+f.Result)) // of a sweep's further nodes
		errs = append(errs, err)
		for _, file := range further {
			node := strings.TrimSuffix(filepath.Base(file), f.Result)
			errs = append(errs, copyFile(file, filepath.Join(out.Folder, node+f.Name)))
		}
	}
	return errors.Join(errs...)
}

// dated returns the files of a tool whose names end with the time, and with a number if another run has
// that time.
func dated(out convert.Converted, now time.Time) []convert.File {
	list := slices.Clone(out.Files)
	for i := range list {
		ending := filepath.Ext(list[i].Name)
		stem := strings.TrimSuffix(list[i].Name, ending) + "-" + now.Format("20060102-150405")
		list[i].Name = stem + ending
		for n := 2; exists(filepath.Join(out.Folder, list[i].Name)); n++ {
			list[i].Name = fmt.Sprintf("%s-%d%s", stem, n, ending)
		}
	}
	return list
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// copyFile copies a file with its mode, and makes the folder. It does nothing if both names are the
// same file: the command line may name the folder of the artifacts.
func copyFile(from, to string) error { return transfer(from, to, os.O_TRUNC) }

// appendFile is copyFile for a file of lines that grows with each run.
func appendFile(from, to string) error { return transfer(from, to, os.O_APPEND) }

func transfer(from, to string, how int) error {
	if a, err := os.Stat(from); err == nil {
		if b, err := os.Stat(to); err == nil && os.SameFile(a, b) {
			return nil
		}
	}
	err := os.MkdirAll(filepath.Dir(to), 0o777)
	if err == nil {
		err = copyBytes(from, to, how)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", to, err)
	}
	return nil
}

func copyBytes(from, to string, how int) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	access := os.O_WRONLY
	if how == os.O_APPEND {
		access = os.O_RDWR
	}
	w, err := os.OpenFile(to, os.O_CREATE|access|how, info.Mode().Perm())
	if err != nil {
		return err
	}
	if how == os.O_APPEND {
		err = endLine(w)
	}
	if err != nil {
		return errors.Join(err, w.Close())
	}
	_, err = io.Copy(w, in)
	return errors.Join(err, w.Close())
}

// endLine ends the last line of a file, as vLLM's own files do not.
func endLine(f *os.File) error {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return err
	}
	last := make([]byte, 1)
	if _, err := f.ReadAt(last, info.Size()-1); err != nil || last[0] == '\n' {
		return err
	}
	_, err = f.WriteString("\n")
	return err
}
