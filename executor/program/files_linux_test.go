package program

import (
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends/all"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/source"
)

// pathKeys are the keys of the plan that name a file to read, each with a plan that reads it from
// FILE. A folder is read by those that begin with "dir".
var pathKeys = map[string]string{
	"plan.extends":  "version: 1\nextends: FILE\n",
	"plan.baseline": "HEAD\nbaseline: FILE\n",
	"baseline.file": "HEAD\nbaseline: {file: FILE, if_missing: skip}\n",
	"tls.ca": "version: 1\ntarget: {backend: kserve, url: \"https://h:1\", model: m, tls: " +
		"{ca: FILE}}\nSTAGES",
	"tls.cert": "version: 1\ntarget: {backend: kserve, url: \"https://h:1\", model: m, tls: " +
		"{cert: FILE, key: GOOD}}\nSTAGES",
	"tls.key": "version: 1\ntarget: {backend: kserve, url: \"https://h:1\", model: m, tls: " +
		"{cert: GOOD, key: FILE}}\nSTAGES",
	"dataset.file":      "HEAD\ndata: {file: FILE}\n",
	"dataset.file json": "HEAD\ndata: {file: FILE, format: json}\n",
	"dataset.file list": "HEAD\ndata: {file: [GOOD, FILE]}\n",
	"dataset.dir":       "HEAD\ndata: {dir: FILE}\n",
	"prompts.corpus": "version: 1\ntarget: {backend: openai, url: \"http://h:1\", model: m}\n" +
		"data: {prompts: {corpus: FILE}}\nSTAGES",
	"target.tokenizer": "version: 1\ntarget: {backend: openai, url: \"http://h:1\", model: m, tokenizer: FILE}\n" +
		"data: {prompts: {}}\nSTAGES",
	"generator_map.file": "HEAD\ndata: {generate: {x: {file: FILE}}}\n",
	"intervals.file":     "HEAD\nstages: [{id: s, load: {intervals: {file: FILE, unit: ms}}, for: 1s}]\n",
	"schedule.file":      "HEAD\nstages: [{id: s, load: {schedule: {file: FILE, unit: ms}}}]\n",
	"bodies":             "HEAD\ndata: {bodies: FILE}\n",
	"protos.files": "version: 1\ntarget: {backend: grpc, url: \"grpc://h:1\", method: a.B/C, protos: " +
		"{files: [FILE]}}\ndata: {rows: [{}]}\nSTAGES",
	"protos.include": "version: 1\ntarget: {backend: grpc, url: \"grpc://h:1\", method: a.B/C, protos: " +
		"{files: [GOOD], include: [FILE]}}\ndata: {rows: [{}]}\nSTAGES",
	"protos.descriptor_set": "version: 1\ntarget: {backend: grpc, url: \"grpc://h:1\", method: a.B/C, protos: " +
		"{descriptor_set: FILE}}\ndata: {rows: [{}]}\nSTAGES",
	"inprocess.server_dir": "version: 1\ntarget: {backend: triton_inprocess, model: m, inprocess: " +
		"{server_dir: FILE, repository: .}}\nSTAGES",
	"inprocess.repository": "version: 1\ntarget: {backend: triton_inprocess, model: m, inprocess: " +
		"{repository: FILE}}\nSTAGES",
}

// pathDefinitions are the keys of the schema that hold a path.
func pathDefinitions(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("../../schema/plan.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var top any
	if err := json.Unmarshal(text, &top); err != nil {
		t.Fatal(err)
	}
	var found []string
	var walk func(v any, at string)
	walk = func(v any, at string) {
		switch v := v.(type) {
		case []any:
			for _, x := range v {
				walk(x, at)
			}
		case map[string]any:
			if v["$ref"] == "#/$defs/path" && !slices.Contains(found, at) {
				found = append(found, at)
			}
			for name, x := range v {
				in, _ := x.(map[string]any)
				switch name {
				case "properties":
					def, _, _ := strings.Cut(at, ".")
					for key, x := range in {
						walk(x, def+"."+key)
					}
				case "$defs":
					for def, x := range in {
						walk(x, def)
					}
				default:
					walk(x, at)
				}
			}
		}
	}
	walk(top, "plan")
	return found
}

// TestOnlyRegularFiles: whatever key names a file, a pipe, a socket, a device or a folder in its
// place is refused at its line, at once and without being read.
func TestOnlyRegularFiles(t *testing.T) {
	for _, key := range pathDefinitions(t) {
		of := strings.NewReplacer("overlay_",
			"", "extension.", "plan.", "plan_with_defaults.", "plan.", "profile.", "plan.").Replace(key)
		if pathKeys[of] == "" && of != "output.dir" { // which is written
			t.Errorf("the key %s names a path and is not tried here", key)
		}
	}
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := syscall.Mkfifo(at("pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	socket, err := net.Listen("unix", at("socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	if err := os.WriteFile(at("good.json"), []byte(`[{"x": 1}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(at("folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at("folder/x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for key, text := range pathKeys {
		for kind, file := range map[string]string{
			"named pipe": at("pipe"), "socket": at("socket"), "device": "/dev/zero", "folder": at("folder"),
		} {
			if kind == "folder" && (key == "dataset.dir" || key == "protos.include" ||
				strings.HasPrefix(key, "inprocess")) {
				continue
			}
			plan := strings.ReplaceAll(text, "HEAD",
				"version: 1\ntarget: {backend: kserve, url: \"http://h:1\", model: m}")
			stages := "stages: [{id: s, load: {concurrency: 1}, for: 1s}]\n"
			if plan = strings.ReplaceAll(plan, "STAGES", stages); !strings.Contains(plan, "stages:") {
				plan += stages
			}
			plan = strings.ReplaceAll(strings.ReplaceAll(plan, "FILE", file), "GOOD", at("good.json"))
			line := 1 + strings.Count(plan[:strings.Index(plan, file)], "\n")
			if diags := diagnosed(t, 5*time.Second, plan); !refusedAt(diags, line, kind) {
				t.Errorf("%s is a %s: %v", key, kind, diags)
			}
		}
	}
}

// refusedAt reports whether an error on a line says what kind of file was found.
func refusedAt(diags source.Diagnostics, line int, kind string) bool {
	return slices.ContainsFunc(diags, func(d source.Diagnostic) bool {
		says := strings.Contains(d.Summary, kind) || strings.Contains(d.Summary, "is a file, not a folder") ||
			strings.Contains(d.Summary, "no Triton found in")
		return d.Severity == source.Error && d.Pos.Line == line && says
	})
}

// diagnosed are the diagnostics of a plan, which must come in time.
func diagnosed(t *testing.T, limit time.Duration, text string) source.Diagnostics {
	t.Helper()
	out := make(chan source.Diagnostics, 1)
	go func() {
		plan, diags := scenario.Parse("plan.yaml", []byte(text), scenario.Overrides{})
		if plan != nil {
			_, more := Compile(plan, all.Kinds())
			diags = append(diags, more...)
		}
		out <- diags
	}()
	select {
	case diags := <-out:
		return diags
	case <-time.After(limit):
		t.Fatalf("nothing came of %s", text)
		return nil
	}
}
