package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/sluice-bench/sluice/executor/artifact/clean"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario/regular"
)

// File names of the tools.
const (
	ProfileName    = "profile_export.json"
	RecordsName    = "profile_export.jsonl"
	GenAIPerfName  = "profile_export_genai_perf.json"
	GenAIPerfTable = "profile_export_genai_perf.csv"
	AIPerfName     = "profile_export_aiperf.json"
	VLLMName       = "vllm_bench.json"
	InputsName     = "inputs.json"
	resultName     = "result.json"
	samplesName    = "samples.jsonl"
)

// Read reads the runs of a file or a result folder: of GenAI-Perf, perf_analyzer's profile export, AIPerf, vLLM's bench,
// or this program. A file is recognised by what is in it. AIPerf's records and aggregate, and GenAI-Perf's files, are
// read together where they lie in one folder: one has the requests, the other the version and the load.
func Read(path string) ([]*Run, error) {
	runs, err := read(path)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	for _, r := range runs {
		r.Path, r.File = path, path
		r.Notes = append(meaning(r), r.Notes...)
	}
	return runs, nil
}

func read(path string) ([]*Run, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, unwrapped(err)
	}
	if !info.IsDir() {
		return readFile(path)
	}
	for _, name := range known() {
		file := filepath.Join(path, name)
		if _, err := os.Stat(file); err == nil {
			return readFile(file)
		}
	}
	return nil, fmt.Errorf("the folder has none of %s", strings.Join(known(), ", "))
}

// unwrapped returns the cause of an error of a file, whose path the caller names.
func unwrapped(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

func readFile(path string) ([]*Run, error) {
	if strings.HasSuffix(path, ".jsonl") && !startsVLLM(path) {
		return readRecords(path)
	}
	data, err := readAll(path)
	if err != nil {
		return nil, err
	}
	docs, err := documents(data)
	if err != nil {
		return nil, fmt.Errorf("it is no JSON object: %w", err)
	}
	doc := docs[0].members
	has := func(name string) bool { return len(doc[name]) > 0 }
	if len(docs) > 1 {
		return readAppended(docs)
	}
	switch {
	case has("schema") && strings.HasPrefix(text(doc["schema"]), "sluice/"):
		return readResult(path, data)
	case has("experiments"):
		return readProfile(data)
	case has("aiperf_version"), has("schema_version"), has("records"):
		r := readAIPerf(doc)
		joinRecords(r, sibling(path, AIPerfName, RecordsName))
		return []*Run{r}, nil
	case isVLLM(doc):
		r, err := readVLLM(data, doc)
		return []*Run{r}, err
	case has("input_config"), has(Latency):
		r := readGenAIPerf(doc)
		joinProfile(r, sibling(path, GenAIPerfName, ProfileName))
		return []*Run{r}, nil
	}
	return nil, errors.New("it is no result of Sluice, GenAI-Perf, perf_analyzer, AIPerf or vLLM's bench")
}

// document is one JSON object of a file.
type document struct {
	text    json.RawMessage
	members map[string]json.RawMessage
}

// documents returns the JSON objects of a file, of which there is at least one.
func documents(data []byte) (list []document, err error) {
	in := json.NewDecoder(bytes.NewReader(data))
	for {
		var d document
		if err := in.Decode(&d.text); errors.Is(err, io.EOF) && len(list) > 0 {
			return list, nil
		} else if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(d.text, &d.members); err != nil {
			return nil, err
		}
		if list = append(list, d); len(list) > maxAppended {
			return nil, fmt.Errorf("more than %d objects", maxAppended)
		}
	}
}

// isVLLM reports whether a document is a result of vLLM's bench.
func isVLLM(doc map[string]json.RawMessage) bool {
	return len(doc["model_id"]) > 0 || len(doc["total_token_throughput"]) > 0
}

// startsVLLM reports whether the first object of a file is a result of vLLM's bench: a user may name it as lines.
func startsVLLM(path string) bool {
	f, err := open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var doc map[string]json.RawMessage
	return json.NewDecoder(io.LimitReader(f, maxFile)).Decode(&doc) == nil && isVLLM(doc)
}

// readAppended reads the results that vLLM's --append-result has collected; each is the node of its number, from 1.
func readAppended(docs []document) (runs []*Run, err error) {
	for i, d := range docs {
		if !isVLLM(d.members) {
			return nil, fmt.Errorf("object %d is no result of vLLM's bench: only those may be several in a file", i+1)
		}
		r, err := readVLLM(d.text, d.members)
		if err != nil {
			return nil, fmt.Errorf("object %d: %w", i+1, err)
		}
		r.node = strconv.Itoa(i + 1)
		runs = append(runs, r)
	}
	return runs, nil
}

// sibling returns the path of the file that lies beside path and has another ending in place of its own; "" if path
// does not end so.
func sibling(path, own, other string) string {
	if before, ok := strings.CutSuffix(path, own); ok {
		return before + other
	}
	return ""
}

// readAll reads a document of at most maxFile bytes.
func readAll(path string) ([]byte, error) {
	data, err := regular.Read(path, maxFile)
	return data, unwrapped(err)
}

// open opens a file of lines.
func open(path string) (io.ReadCloser, error) {
	f, err := regular.Open(path, maxLines)
	if err != nil {
		return nil, unwrapped(err)
	}
	return f, nil
}

// readRecords reads AIPerf's records with the aggregate beside them.
func readRecords(path string) ([]*Run, error) {
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	records, err := readAIPerfRecords(f, nil)
	if err != nil {
		return nil, err
	}
	if beside := sibling(path, RecordsName, AIPerfName); beside != "" {
		if data, err := readAll(beside); err == nil {
			var doc map[string]json.RawMessage
			if json.Unmarshal(data, &doc) == nil {
				r := readAIPerf(doc)
				r.take(records)
				return []*Run{r}, nil
			}
		}
	}
	return []*Run{records}, nil
}

// joinRecords enters the requests of AIPerf's records, if the file is there and whole.
func joinRecords(r *Run, path string) {
	if path == "" {
		return
	}
	f, err := open(path)
	if err != nil {
		return
	}
	defer f.Close()
	if records, err := readAIPerfRecords(f, nil); err == nil {
		r.take(records)
	}
}

// take enters the requests of o, and numbers that r lacks.
func (r *Run) take(o *Run) {
	r.Requests, r.Start, r.End, r.Warmup = o.Requests, o.Start, o.End, o.Warmup
	r.Streaming = r.Streaming || o.Streaming
	r.Failed, r.Failures = max(r.Failed, o.Failed), o.Failures
	r.Notes = append(r.Notes, o.Notes...)
	for tag, s := range o.Stats {
		if _, ok := r.Stats[tag]; !ok {
			r.Stats[tag] = s
		}
	}
}

// joinProfile enters the requests of perf_analyzer's raw file, if it has one experiment with as many requests as r. Its
// lengths of inputs are known only where all are equal.
func joinProfile(r *Run, path string) {
	if path == "" {
		return
	}
	data, err := readAll(path)
	if err != nil {
		return
	}
	runs, err := readProfile(data)
	if err != nil || len(runs) != 1 {
		return
	}
	if n, ok := r.Stat(RequestCount, "avg"); ok && int(n) != len(runs[0].Requests) {
		return
	}
	r.take(runs[0])
	r.equalInputs()
}

// equalInputs enters the length of inputs that requests lack, if all are equal.
func (r *Run) equalInputs() {
	shortest, _ := r.Stat(ISL, "min")
	longest, ok := r.Stat(ISL, "max")
	if !ok || shortest != longest {
		return
	}
	for i := range r.Requests {
		if r.Requests[i].Input < 0 {
			r.Requests[i].Input = whole(shortest)
		}
	}
}

// meaning says how the numbers of a tool, and of an edition of it, are defined where that is not as here.
func meaning(r *Run) []string {
	switch r.Tool {
	case "AIPerf":
		notes := []string{"its latency and TTFT begin before the connection is made, where a request opens one"}
		if r.Version == "" {
			notes = append(notes, "its version is unknown: "+AIPerfName+" is not beside the records")
		}
		return notes
	case "GenAI-Perf":
		return []string{"its tokens are counted by its own tokenizer"}
	case "perf_analyzer":
		return []string{"tokens are those of the server's usage where it was recorded, else of the events with text"}
	}
	return nil
}

// readResult reads a result of this program with the requests beside it: AIPerf's records or samples.jsonl.
func readResult(path string, data []byte) ([]*Run, error) {
	stored, err := result.Read(strings.NewReader(string(data)))
	if err != nil {
		return nil, err
	}
	if len(stored.Nodes) == 0 {
		return nil, errors.New("the result has no nodes")
	}
	return resultRuns(stored, filepath.Dir(path))
}

// ReadAll reads the runs of several paths, each as Read takes it or PATH#NODE, and gives those without a name one that
// tells them apart.
func ReadAll(paths []string) ([]*Run, error) {
	var all []*Run
	for _, path := range paths {
		file, node, chosen := SplitNode(path)
		runs, err := Read(file)
		if err != nil {
			return nil, err
		}
		if chosen {
			var names []string
			runs = slices.DeleteFunc(runs, func(r *Run) bool {
				names = append(names, r.node)
				return r.node != node
			})
			if len(runs) == 0 {
				return nil, fmt.Errorf("read %s: there is no node %q, but %s", file, node,
					clean.Line(strings.Join(names, ", ")))
			}
		}
		for _, r := range runs {
			if chosen || len(runs) > 1 && r.node != "" {
				r.Path = file + "#" + r.node
			}
		}
		all = append(all, runs...)
	}
	nameApart(all)
	return all, nil
}

// SplitNode splits PATH#NODE. A # may be part of the name of a file or folder, so that PATH is the longest
// that exists.
func SplitNode(path string) (file, node string, chosen bool) {
	if exists(path) {
		return path, "", false
	}
	for at := strings.LastIndexByte(path, '#'); at >= 0; at = strings.LastIndexByte(path[:at], '#') {
		if exists(path[:at]) {
			return path[:at], path[at+1:], true
		}
	}
	return strings.Cut(path, "#") // reading it says what is missing
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// nameApart gives runs different names: those that their files have, with the folder where several are equal or empty.
func nameApart(runs []*Run) {
	count := make(map[string]int)
	for _, r := range runs {
		count[r.Name]++
	}
	taken := make(map[string]bool)
	for i, r := range runs {
		if r.Name == "" || count[r.Name] > 1 {
			file := r.File
			if abs, err := filepath.Abs(file); err == nil {
				file = abs
			}
			if slices.Contains(known(), filepath.Base(file)) {
				file = filepath.Dir(file)
			}
			r.Name = strings.TrimSuffix(filepath.Base(file)+" "+r.node, " ")
		}
		if taken[r.Name] {
			r.Name = fmt.Sprintf("%s (%d)", r.Name, i+1)
		}
		taken[r.Name] = true
	}
}

// known lists the names of files that say nothing of a run.
func known() []string {
	return []string{resultName, RecordsName, AIPerfName, GenAIPerfName, ProfileName, VLLMName}
}
