package artifact

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/executor/artifact/perfanalyzer"
	"github.com/sluice-bench/sluice/executor/result"
)

// Modes of output files. The umask applies; private is for data of servers and data sets.
const (
	folderMode fs.FileMode = 0o777
	fileMode   fs.FileMode = 0o666
	private    fs.FileMode = 0o600
)

// Folder is the output folder of a run. Until Close it belongs to this run alone. After Running its
// result.json is of this run, and files of earlier runs are removed: a killed run leaves no verdict
// of another.
type Folder struct {
	dir     string
	o       Options
	lock    *os.File
	own     map[string]bool // files that this run may replace: its own, and those of an earlier run
	earlier []string        // files of an earlier run, until removeEarlier
	running bool            // Running has written result.json
	judged  bool            // result.json holds a verdict of this run
	sampled bool            // the requests have been written, or failed to be
	samples []string        // files of the requests
}

// Open locks the folder dir for a run with these options, and creates it if necessary. It returns
// an error if another run writes into it, if it is not writable, or if it holds a file that this
// run would replace and that no result of an earlier run lists. It removes temporary files of
// killed runs and changes nothing else.
func Open(dir string, o Options) (*Folder, error) {
	if err := os.MkdirAll(dir, folderMode); err != nil {
		return nil, fmt.Errorf("make result folder: %w", err)
	}
	f := &Folder{dir: dir, o: o, own: make(map[string]bool)}
	var err error
	if f.lock, err = lockFolder(dir); err != nil {
		return nil, err
	}
	if h := Earlier(dir); h != nil {
		f.earlier = filesOf(h)
	}
	for _, name := range f.earlier {
		f.own[name] = true
	}
	if err = f.checkForeignFiles(); err == nil && f.lock != nil {
		err = f.removeTemporaries()
	}
	if err == nil {
		var probe *temporary
		if probe, err = f.temporary(resultName, nil); err == nil {
			err = probe.remove()
		}
		if err != nil {
			err = fmt.Errorf("write into the result folder: %w", err)
		}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Close unlocks the folder.
func (f *Folder) Close() error {
	if f.lock == nil {
		return nil
	}
	return f.lock.Close()
}

// Earlier returns the header of the result in dir, nil if there is none.
func Earlier(dir string) *result.Header {
	path := filepath.Join(dir, resultName)
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	stored, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer stored.Close()
	h, err := result.ReadHeader(stored)
	if err != nil {
		return nil
	}
	return h
}

// filesOf returns the files of an earlier run. A result that does not list them has two; a list
// counts only as far as it names files that runs write.
func filesOf(h *result.Header) []string {
	if h.Files == nil {
		return []string{resultName, "stages.csv"}
	}
	return append([]string{resultName}, slices.DeleteFunc(slices.Clone(h.Files), func(name string) bool {
		return name == resultName || !isOutputName(name)
	})...)
}

// isOutputName reports whether runs write a file of this name with some options.
func isOutputName(name string) bool {
	if name != filepath.Base(name) {
		return false
	}
	if isConfigName(name) || strings.HasSuffix(name, ".perf_analyzer.csv") ||
		strings.HasSuffix(name, ".perf_analyzer_"+perfanalyzer.RequestRate+".csv") ||
		strings.HasSuffix(name, ".perf_analyzer_"+perfanalyzer.Concurrency+".csv") {
		return true
	}
	every := Options{Formats: Formats(), Mixed: true}
	all := every.names()
	for _, table := range []string{"csv", "jsonl"} {
		all = append(all, (&Samples{o: SamplesOptions{Table: table, Export: true, LLM: true}}).names(every)...)
	}
	return slices.Contains(all, name) || slices.ContainsFunc(llmNames(every), func(of string) bool {
		return strings.HasSuffix(name, "."+of) // of a further node
	})
}

// checkForeignFiles returns an error for files that this run would replace and no run wrote.
func (f *Folder) checkForeignFiles() error {
	var b strings.Builder
	for _, name := range f.o.names() {
		if err := f.mayWrite(name); err != nil {
			fmt.Fprintf(&b, "  %s: %s\n", name, err)
		}
	}
	if b.Len() == 0 {
		return nil
	}
	return fmt.Errorf("files are in the way in %s:\n%sMove them away, or choose another folder", f.dir, &b)
}

// mayWrite returns an error if the run must not write a file of this name.
func (f *Folder) mayWrite(name string) error {
	info, err := os.Lstat(filepath.Join(f.dir, name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.IsDir():
		return errors.New("it is a folder")
	case !info.Mode().IsRegular():
		return errors.New("it is not a regular file")
	case !f.own[name] && name == resultName:
		return errors.New("it is no result of sluice")
	case !f.own[name]:
		return errors.New("no result of an earlier run lists it")
	}
	return nil
}

// Running writes the result of a run in progress. The first call, before anything is sent, removes
// the files of an earlier run.
func (f *Folder) Running(r *result.Result) error {
	r.State, r.Files = result.StateRunning, f.o.names()
	data, err := resultJSON(r, f.o)
	if err != nil {
		return err
	}
	t, err := f.temporary(resultName, data)
	if err != nil {
		return fmt.Errorf("write %s: %w", resultName, err)
	}
	if err := f.removeEarlier(); err != nil {
		return errors.Join(err, t.remove())
	}
	if err := f.rename(t); err != nil {
		return errors.Join(err, t.remove())
	}
	f.running = true
	return nil
}

// removeEarlier removes the files of an earlier run, except result.json, which is replaced.
func (f *Folder) removeEarlier() error {
	var errs []error
	for _, name := range f.earlier {
		if name == resultName || f.mayWrite(name) != nil {
			continue
		}
		if err := f.remove(name); err != nil {
			errs = append(errs, err)
		}
	}
	f.earlier = nil
	return errors.Join(errs...)
}

// remove removes a file of this run or an earlier one. A result.json of the run in progress stays.
func (f *Folder) remove(name string) error {
	if !f.own[name] || name == resultName && f.running && !f.judged {
		return nil
	}
	delete(f.own, name)
	if err := os.Remove(filepath.Join(f.dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// rename gives a file its name, unless another program has created that file.
func (f *Folder) rename(t *temporary) error {
	err := f.mayWrite(t.name)
	if err == nil {
		err = os.Rename(t.path, filepath.Join(f.dir, t.name))
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", t.name, err)
	}
	t.path, f.own[t.name] = "", true
	return nil
}

// temporary is a file under a temporary name.
type temporary struct{ name, path string }

// temporary writes data under a temporary name, with the mode of files without private data.
func (f *Folder) temporary(name string, data []byte) (*temporary, error) {
	file, err := createTemporary(f.dir, name, fileMode)
	if err != nil {
		return nil, err
	}
	_, err = bytes.NewReader(data).WriteTo(file)
	t := &temporary{name, file.Name()}
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, errors.Join(err, t.remove())
	}
	return t, nil
}

func (t *temporary) remove() error {
	if t.path == "" {
		return nil
	}
	path := t.path
	t.path = ""
	return os.Remove(path)
}

// createTemporary creates a new file .NAME.NUMBER. Unlike os.CreateTemp it respects the umask.
func createTemporary(dir, name string, mode fs.FileMode) (*os.File, error) {
	for tries := 0; ; tries++ {
		path := filepath.Join(dir, fmt.Sprintf(".%s.%d", name, rand.Uint32()))
		file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
		if tries < 1000 && errors.Is(err, fs.ErrExist) {
			continue
		}
		return file, err
	}
}

// removeTemporaries removes temporary files of killed runs. The caller holds the lock.
func (f *Folder) removeTemporaries() error {
	entries, err := os.ReadDir(f.dir)
	errs := []error{err}
	for _, e := range entries {
		if !e.Type().IsRegular() || !isTemporary(e.Name()) {
			continue
		}
		if err := os.Remove(filepath.Join(f.dir, e.Name())); err != nil {
			errs = append(errs, fmt.Errorf("remove what a killed run left: %w", err))
		}
	}
	return errors.Join(errs...)
}

// isTemporary reports whether createTemporary makes such names.
func isTemporary(name string) bool {
	dot := strings.LastIndexByte(name, '.')
	if dot < 2 || name[0] != '.' || strings.Trim(name[dot+1:], "0123456789") != "" || dot == len(name)-1 {
		return false
	}
	return isOutputName(name[1:dot]) || name[1:dot] == spoolName || name[1:dot] == "probe"
}
