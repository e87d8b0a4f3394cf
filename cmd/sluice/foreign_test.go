package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNothingOfOtherFilesIsShown: whoever lets others' plans be validated does not show them what
// the job can read. Every way in which a plan or a command line names a file is tried with files
// that are none of ours.
func TestNothingOfOtherFilesIsShown(t *testing.T) {
	const secret = "S3kr3t"
	t.Chdir(t.TempDir())
	write := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	files := map[string]string{
		"passwd":      "root:x:0:0:" + secret + ":/root:/bin/bash\nuser:x:1000:" + secret + "\n",
		"dot.env":     "API_TOKEN=" + secret + "\nOTHER='" + secret + "\n",
		"key.json":    `{"token": "` + secret + `", "list": [1, "` + secret + `"]}`,
		"broken.json": `{"token": "` + secret + `", "list": [1, `,
		"kube.yaml": "apiVersion: v1\nkind: " + secret + "\nusers: [{name: n, token: \"" + secret +
			"\"}]\n",
		"broken.yaml": "apiVersion: v1\nusers: [{token: \"" + secret + "}]\n",
		"alias.yaml":  "users: *" + secret + "\n",
		"pipe.yml":    "stages: [build, " + secret + "]\nvariables: {TOKEN: " + secret + "}\n",
		"id_rsa":      "-----BEGIN PRIVATE KEY-----\n" + secret + "\n-----END PRIVATE KEY-----\n",
		"tabs":        "\t" + secret + ": x\n",
	}
	const target = "target: {backend: kserve, url: \"builtin://http\", model: identity}\n"
	const stages = "stages: [{id: s, load: {concurrency: 1}, for: 1 request, shapes: {INPUT0: [4]}}]\n"
	plans := []string{
		"extends: FILE\n" + stages,
		"baseline: FILE\n" + target + stages,
		target + "stages: [{id: s, load: {intervals: {file: FILE, unit: us}}, for: 1s}]\n",
		target + "stages: [{id: s, load: {schedule: {file: FILE, unit: us}}, for: 1s}]\n",
		"target: {backend: kserve, url: \"https://localhost:1\", model: m, tls: {ca: FILE, cert: FILE, key: " +
			"FILE}}\n" + stages,
		target + stages + "data: {bodies: FILE}\n",
		target + stages + "data: {generate: {INPUT0: {file: FILE}}}\n",
		target + stages + "data: {file: FILE}\n",
	}
	for _, format := range []string{"jsonl", "json", "csv", "v2", "perf_analyzer"} {
		plans = append(plans, target+stages+"data: {file: FILE, format: "+format+"}\n")
	}
	said := 0
	run := func(what string, args ...string) {
		var out, errs bytes.Buffer
		a := &app{
			out: &errorWriter{w: &out}, err: &errs,
			env: func(string) (string, bool) { return "", false },
		}
		Main(args, a)
		said += out.Len() + errs.Len()
		if text := out.String() + errs.String(); strings.Contains(text, secret) {
			t.Errorf("%s: %s:\n%s", what, strings.Join(args, " "), text)
		}
	}
	write("good.yaml", "version: 1\nvars: {v: 1}\n"+target+stages)
	for name, text := range files {
		write(name, text)
		for _, plan := range plans {
			plan = "version: 1\n" + strings.ReplaceAll(plan, "FILE", name)
			write("plan.yaml", plan)
			for _, args := range [][]string{{"validate", "plan.yaml"}, {"validate", "plan.yaml", "--json"}} {
				run(plan, args...)
			}
		}
		for _, args := range [][]string{
			{"validate", name},
			{"validate", name, "--json"},
			{"validate", name, "--explain"},
			{"graph", name},
			{"run", name},
			{"validate", "good.yaml", "--var-file", name},
			{"validate", "good.yaml", "--baseline", name},
			{"convert", "genai-perf", "--", "config", "-f", name},
			{"convert", "aiperf", "--", "--config", name},
			{"convert", "vllm-bench", "--", "--config", name},
			{"convert", "aiperf", "--", "-m", "m", "--input-file", name},
			{"convert", "genai-perf", "--", "-m", "m", "--endpoint-type", "rankings", "--input-file", name},
		} {
			run(name, args...)
		}
		if left, _ := filepath.Glob("sluice-results*"); left != nil {
			t.Errorf("%s: something ran: %v", name, left)
		}
	}
	if said < 10_000 {
		t.Errorf("only %d characters were printed", said)
	}
}
