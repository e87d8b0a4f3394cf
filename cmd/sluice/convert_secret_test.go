package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/backends/builtin"
	"github.com/sluice-bench/sluice/executor/verdict"
)

// TestConvertKeepsSecrets: a server that wants a key answers the run of a command line that has it, and that of the
// kept plan once the environment has it; no file and no line of the output holds it.
func TestConvertKeepsSecrets(t *testing.T) {
	const key = "hush-0815-hush"
	server := startServer(t, builtin.Config{APIKey: key})
	dir := t.TempDir()
	writeLineFiles(t, dir)
	url := server.HTTPURL()
	var all []string
	for tool, line := range map[string]string{
		"aiperf":     "-m chat --url " + url + " --request-count 4 --isl 8 --osl 2 --artifact-dir a --api-key " + key,
		"genai-perf": "-m chat -u " + url + " --endpoint-type chat --request-count 4 --isl 8 --osl 2 --artifact-dir g -- -H Authorization:Bearer@" + key,
		"vllm-bench": "--model chat --base-url " + url + " --backend openai-chat --endpoint /v1/chat/completions --num-prompts 4 " +
			"--random-input-len 8 --random-output-len 2 --save-result --result-dir v --header Authorization=Bearer@" + key,
	} {
		args := strings.Fields(line)
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "Bearer@", "Bearer ")
		}
		plan := tool + ".yaml"
		printed := sluiceIn(t, dir, -1, append([]string{"convert", tool, "--run", "--plan", plan, "--out", tool, "--"}, args...)...)
		if !strings.Contains(printed, "requests ") || strings.Contains(printed, "the server wants") {
			t.Errorf("%s: the server did not answer\n%s", tool, printed)
		}
		variable := map[string]string{"aiperf": "API_KEY"}[tool]
		if variable == "" {
			variable = "SERVER_TOKEN"
		}
		if !strings.Contains(printed, "the plan reads this secret from the environment: set "+variable) {
			t.Errorf("%s: %s is not named\n%s", tool, variable, printed)
		}
		all = append(all, printed, sluiceIn(t, dir, verdict.CodePlan, "validate", plan))
		t.Setenv(variable, key)
		all = append(all, sluiceIn(t, dir, 0, "validate", plan))
		_ = os.Unsetenv(variable)
	}
	if strings.Contains(strings.Join(all, "\n"), key) {
		t.Errorf("the output holds the secret\n%s", all)
	}
	files := 0
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		data, err := os.ReadFile(path)
		if strings.Contains(string(data), key) {
			t.Errorf("%s holds the secret", path)
		}
		return err
	})
	if err != nil || files < 20 {
		t.Errorf("%d files: %v", files, err)
	}
}

// TestConvertModelAnalyzerKeepsSecrets: neither the plan of a configuration nor a message about it shows a secret, and a
// plan that validate refuses is not printed.
func TestConvertModelAnalyzerKeepsSecrets(t *testing.T) {
	const key = "hush-0815-hush"
	dir := t.TempDir()
	write := func(text string) {
		if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("profile_models: [a]\nperf_analyzer_flags: {H: \"Authorization: Bearer " + key + "\", streaming: true}\n")
	printed := sluiceIn(t, dir, 0, "convert", "model-analyzer", "config.yaml")
	if strings.Contains(printed, key) || !strings.Contains(printed, "set SERVER_TOKEN to ") ||
		!strings.Contains(printed, "streaming is not converted") || !strings.Contains(printed, "\"Bearer ${token}\"") {
		t.Error(printed)
	}
	write("profile_models: {a: {model_config_parameters: {max_batch_size: many}}}\n")
	printed = sluiceIn(t, dir, verdict.CodePlan, "convert", "model-analyzer", "config.yaml")
	if strings.Contains(printed, "version: 1") || !strings.Contains(printed, "the plan of this configuration: ") {
		t.Error(printed)
	}
}
