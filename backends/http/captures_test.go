package http

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	nethttp "net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// refusals returns the bodies of all refusals among the captures of real servers, by name.
func refusals(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("../wire/http1/testdata/golden/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no captures: %v", err)
	}
	bodies := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := ""
		for len(text) > 0 {
			line, rest, _ := bytes.Cut(text, []byte("\n"))
			word := strings.Fields(string(line))
			text = rest
			switch word[1] {
			case "CASE":
				name = strings.TrimSuffix(filepath.Base(file), ".txt") + "/" + word[2]
			case "REQUEST", "RESPONSE":
				n, err := strconv.Atoi(word[2])
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if word[1] == "RESPONSE" {
					if reply, err := nethttp.ReadResponse(bufio.NewReader(bytes.NewReader(rest[:n])), nil); err == nil && reply.StatusCode >= 400 {
						body, _ := io.ReadAll(reply.Body)
						bodies[name] = string(body)
					}
				}
				text = rest[n+1:]
			}
		}
	}
	return bodies
}

// TestCauseOfCaptures: the cause of each refusal that real servers gave is in their words, without JSON around it
// and without the lines of a traceback above it.
func TestCauseOfCaptures(t *testing.T) {
	bodies := refusals(t)
	if len(bodies) < 58 {
		t.Errorf("only %d refusals", len(bodies))
	}
	for name, body := range bodies {
		cause := string(AppendCause(nil, []byte(body)))
		if (cause == "") != (len(body) == 0) || strings.HasPrefix(cause, "{") || strings.Contains(cause, "Traceback") {
			t.Errorf("%s: %q of %q", name, cause, body)
		}
	}
	// The same words below a traceback of more than 16 KiB, as servers that debug send them.
	frames := "Traceback (most recent call last):\n" + strings.Repeat("  File \"a.py\", line 3, in f\n    raise x\n", 400)
	for name, body := range bodies {
		cause := string(AppendCause(nil, []byte(body)))
		line, _, _ := strings.Cut(cause, "\n")
		for _, form := range []string{`{"detail":%s}`, `{"error":%s}`, `{"error":{"message":%s}}`, `{"message":%s}`} {
			text, err := json.Marshal(frames + cause)
			if err != nil {
				t.Fatal(err)
			}
			if got := string(AppendCause(nil, fmt.Appendf(nil, form, text))); cause != "" && got != line {
				t.Errorf("%s as %s: %q, want %q", name, form, got, line)
			}
		}
		if got := string(AppendCause(nil, []byte("Internal Server Error\n"+frames+cause))); cause != "" && got != line {
			t.Errorf("%s after a title: %q, want %q", name, got, line)
		}
	}
	for name, want := range map[string]string{
		"kserve/infer_unknown_model":     "Model with name nosuch does not exist.",
		"kserve/infer_shape_mismatch":    "ValueError : cannot reshape array of size 4 into shape (1,5)",
		"kserve/infer_missing_fields":    "Field required: shape",
		"kserve/v1_no_instances":         "KeyError : 'instances'",
		"mlserver/infer_unknown_version": "Model ident with version 9 not found",
		"mlserver/infer_malformed_json":  "JSON decode error: body",
		"mlserver/infer_binary_ext":      "UnicodeDecodeError: 'utf-8' codec can't decode byte 0x80 in position 111: invalid start byte",
		"mlserver/method_not_allowed":    "Method Not Allowed",
		"torchserve/unknown_model":       "ModelNotFoundException: Model not found: nosuch",
		"torchserve/handler_exception":   "InternalServerException: Prediction failed",
		"infinity/malformed":             "JSON decode error: body",
		"infinity/empty_input":           "List should have at least 1 item after validation, not 0: list[constrained-str]",
		"kserve/garbage":                 "Invalid HTTP request received.",
		"torchserve-auth/predict_no_token": "InvalidKeyException: Token Authorization failed. Token either incorrect, expired, " +
			"or not provided correctly",
	} {
		if got := string(AppendCause(nil, []byte(bodies[name]))); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
