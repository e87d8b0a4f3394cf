package convert_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/convert"
	"github.com/sluice-bench/sluice/scenario/convert/shell"
)

// hush is the secret of the command lines of this file.
const hush = "hush-0815-hush"

// secretLines are command lines with a secret, and the line of the plan that it becomes; and the variable of the
// environment that holds it. Without a line there is a mistake.
var secretLines = []struct {
	args      []string
	want, env string
}{
	{[]string{"perf_analyzer", "-m", "m", "-H", "Authorization: Bearer " + hush}, `Authorization: "Bearer ${token}"`, "SERVER_TOKEN"},
	{[]string{"perf_analyzer", "-m", "m", "-HX-Api-Key:" + hush}, `X-Api-Key: "${x_api_key}"`, "X_API_KEY"},
	{[]string{"perf_analyzer", "-m", "m", "-u", "http://me:" + hush + "@host:8000"}, `Authorization: "Basic ${credentials}"`, "SERVER_CREDENTIALS"},
	{[]string{"perf_analyzer", "-m", "m", "-i", "grpc", "-u", "me:" + hush + "@host:8001"}, `url: "grpc://host:8001"`, "SERVER_CREDENTIALS"},
	{[]string{"perf_analyzer", "-m", "m", "-i", "grpc", "--request-parameter", "api_key:" + hush + ":string"}, `api_key: "${api_key}"`, "API_KEY"},
	{[]string{"perf_analyzer", "-m", "m", "--collect-metrics", "--metrics-url", "http://me:" + hush + "@host:8002/metrics"}, `url: "http://host:8002/metrics"`, ""},
	{[]string{"genai-perf", "profile", "-m", "m", "--endpoint-type", "chat", "-H", "Authorization: Bearer " + hush}, `Authorization: "Bearer ${token}"`, "SERVER_TOKEN"},
	{[]string{"genai-perf", "profile", "-m", "m", "--endpoint-type", "chat", "--", "-H", "Authorization: Bearer " + hush}, `Authorization: "Bearer ${token}"`, "SERVER_TOKEN"},
	{[]string{"genai-perf", "profile", "-m", "m", "--endpoint-type", "chat", "-u", "https://me:" + hush + "@host"}, `url: "https://host"`, "SERVER_CREDENTIALS"},
	{[]string{"genai-perf", "profile", "-m", "m", "--endpoint-type", "chat", "--extra-inputs", "auth_token:" + hush}, `auth_token: "${auth_token}"`, "AUTH_TOKEN"},
	{[]string{"aiperf", "profile", "-m", "m", "--api-key", hush}, `Authorization: "Bearer ${api_key}"`, "API_KEY"},
	{[]string{"aiperf", "profile", "-m", "m", "--api-key=" + hush}, `Authorization: "Bearer ${api_key}"`, "API_KEY"},
	{[]string{"aiperf", "profile", "-m", "m", "--header", "Cookie:session=" + hush, "X-Team:blue"}, `Cookie: "${cookie}"`, "COOKIE"},
	{[]string{"aiperf", "profile", "-m", "m", "--url", "http://me:" + hush + "@host:8000/v1"}, `url: "http://host:8000"`, "SERVER_CREDENTIALS"},
	{[]string{"aiperf", "profile", "-m", "m", "--extra-inputs", `{"a": {"api_key": "` + hush + `"}}`}, `a.api_key: "${api_key}"`, "API_KEY"},
	{[]string{"aiperf", "profile", "-m", "m", "--mlflow-tracking-uri", "http://me:" + hush + "@host"}, "model: m", ""},
	{[]string{"aiperf", "profile", "secret.yaml"}, "", ""},
	{[]string{"aiperf", "secret.yaml"}, `Authorization: "Bearer ${api_key}"`, "API_KEY"},
	{[]string{"vllm", "bench", "serve", "--model", "m", "--header", "Authorization=Bearer " + hush}, `Authorization: "Bearer ${token}"`, "SERVER_TOKEN"},
	{[]string{"vllm", "bench", "serve", "--model", "m", "--header", "api_key=" + hush}, `api_key: "${api_key2}"`, "API_KEY_2"},
	{[]string{"vllm", "bench", "serve", "--model", "m", "--base-url", "http://me:" + hush + "@host:8000"}, `url: "http://host:8000"`, "SERVER_CREDENTIALS"},
	{[]string{"vllm", "bench", "serve", "--config", "secret_vllm.yaml"}, `Authorization: "Bearer ${token}"`, "SERVER_TOKEN"},
	// mistakes
	{[]string{"perf_analyzer", "-m", "m", "-H", "Authorization:", "Bearer", hush}, "model: m", ""},
	{[]string{"perf_analyzer", "-H", "Authorization: Bearer " + hush, "-q"}, "", ""},
	{[]string{"genai-perf", "profile", "-m", "m", "--endpoint-type", "chat", "--api-key", hush}, "", ""},
	{[]string{"genai-perf", "profile", "-m", "m", "--endpoint-type", "chat", "--api-key=" + hush}, "", ""},
	{[]string{"aiperf", "profile", "-m", "m", "-H", "Authorization=Bearer " + hush}, "", ""},
	{[]string{"aiperf", "profile", "-m", "m", "-H", "Authorization:Bearer", hush}, "", ""},
	{[]string{"aiperf", "profile", "-m", "m", "--concurrency", "x", "--api-key", hush}, "", ""},
	{[]string{"aiperf", "profile", "-m", "m", "--api-keey", hush}, "", ""},
	{[]string{"aiperf", "profile", "-m", "m", "--api-kye=" + hush}, "", ""},
}

// TestSecrets: no secret of a command line is in its plan, in what is shown of it, or in a message; the plan reads it
// from the environment, where --run puts it.
func TestSecrets(t *testing.T) {
	writeLLM(t)
	writeFile(t, "secret.yaml", "benchmark:\n  model: m\n  endpoint: {url: \"http://h:1\", api_key: "+hush+", headers: {X-Token: "+hush+"b}}\n")
	writeFile(t, "secret_vllm.yaml", "model: m\nheader: [\"Authorization=Bearer "+hush+"\"]\n")
	for _, l := range secretLines {
		out, diags := llmTool(l.args[0]).Convert(convert.Options{Args: l.args})
		all := []string{out.Plan, out.Line}
		for _, d := range diags {
			all = append(all, d.Summary, d.Detail, strings.Join(d.Allowed, " "))
		}
		shown := strings.Join(all, "\n")
		if strings.Contains(shown, hush) || strings.ContainsAny(shown, "⟦⟧") {
			t.Errorf("%q: the secret is shown\n%s", l.args, shown)
		}
		switch {
		case l.want == "" && (out.Plan != "" || !diags.HasErrors()):
			t.Errorf("%q becomes a plan\n%s", l.args, out.Plan)
		case l.want == "":
			continue
		case !strings.Contains(out.Plan, l.want):
			t.Errorf("%q: %s is not in\n%s\n%v", l.args, l.want, out.Plan, diags)
		}
		environment := map[string]string{}
		for _, s := range out.Secrets {
			environment[s.Env] = s.Value
		}
		if value := environment[l.env]; l.env == "" && len(environment) > 0 || l.env != "" && !holds(value) {
			t.Errorf("%q: the environment is %v", l.args, environment)
		}
		lookup := func(name string) (string, bool) { v, ok := environment[name]; return v, ok }
		plan, found := scenario.Parse("plan.yaml", []byte(out.Plan), scenario.Overrides{Env: lookup})
		if plan == nil || found.HasErrors() {
			t.Errorf("%q: %v\n%s", l.args, found, out.Plan)
		}
		if l.env == "" {
			continue
		}
		_, found = scenario.Parse("plan.yaml", []byte(out.Plan), scenario.Overrides{})
		if text := found.Error(); !strings.Contains(text, "no value for variable") {
			t.Errorf("%q: without its secret the plan is read: %v\n%s", l.args, found, out.Plan)
		}
	}
}

// holds reports whether a value is the secret, or the Base64 of a user with it.
func holds(value string) bool {
	plain, _ := base64.StdEncoding.DecodeString(value)
	return value == hush || value == "session="+hush || string(plain) == "me:"+hush
}

// TestSecretOfShell: a variable that no shell has expanded is the one that the plan reads.
func TestSecretOfShell(t *testing.T) {
	for line, env := range map[string]string{
		`perf_analyzer -m m -H "Authorization: Bearer $MY_TOKEN"`:    "MY_TOKEN",
		`aiperf profile -m m --api-key '${NGC_KEY}'`:                 "NGC_KEY",
		`genai-perf profile -m m --endpoint-type chat -H api-key:$A`: "A",
	} {
		args, err := shell.Split(line)
		if err != nil {
			t.Fatal(err)
		}
		out, diags := llmTool(line).Convert(convert.Options{Args: args})
		if !strings.Contains(out.Plan, "{env: "+env+", secret: true}") || len(out.Secrets) != 1 || out.Secrets[0].Value != "" {
			t.Errorf("%s: %v %v\n%s", line, diags, out.Secrets, out.Plan)
		}
	}
}

// TestNoSecret: headers and fields that hold no secret stay as they are.
func TestNoSecret(t *testing.T) {
	for line, want := range map[string]string{
		"perf_analyzer -m m -H X-Max-Tokens:100":                                     `X-Max-Tokens: "100"`,
		"aiperf profile -m m --extra-inputs stop_token:END":                          `stop_token: "END"`,
		"aiperf profile -m m --url http://host:8000/a@b":                             `path: "/a@b"`,
		"genai-perf profile -m m --endpoint-type chat --extra-inputs max_tokens_x:5": "max_tokens_x: 5",
	} {
		out, diags := llmTool(line).Convert(convert.Options{Args: strings.Fields(line)})
		if len(out.Secrets) > 0 || !strings.Contains(out.Plan, want) || strings.Contains(out.Plan, "***") {
			t.Errorf("%s: %v %v\n%s", line, diags, out.Secrets, out.Plan)
		}
	}
}
