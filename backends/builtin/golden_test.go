package builtin

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// capture is one exchange with a real server.
type capture struct {
	name              string
	request, response []byte
}

func captures(t *testing.T, file string) (all []capture) {
	t.Helper()
	data, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(bytes.NewReader(data))
	var c capture
	for {
		line, err := r.ReadString('\n')
		if err == io.EOF {
			return all
		}
		f := strings.Fields(line)
		switch {
		case len(f) > 2 && f[1] == "CASE":
			c = capture{name: f[2]}
		case len(f) == 3 && (f[1] == "REQUEST" || f[1] == "RESPONSE"):
			n, err := strconv.Atoi(f[2])
			if err != nil {
				t.Fatal(err)
			}
			blob := make([]byte, n+1)
			if _, err := io.ReadFull(r, blob); err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			if f[1] == "REQUEST" {
				c.request = blob[:n]
			} else {
				c.response = blob[:n]
				all = append(all, c)
			}
		}
	}
}

// protocolFields are the fields that the protocol defines for each kind of answer; "[]" steps into
// a list. Fields that it leaves to the server (parameters, headers) are not compared.
func protocolFields(path, method string, status int) []string {
	switch {
	case status != http.StatusOK:
		return []string{"error"}
	case method == http.MethodPost:
		return []string{
			"model_name", "model_version", "outputs", "outputs[].name", "outputs[].datatype", "outputs[].shape",
			"outputs[].data",
		}
	case path == "/v2":
		return []string{"name", "version", "extensions"}
	case strings.HasSuffix(path, "/ready") || strings.HasSuffix(path, "/live"):
		return nil
	}
	return []string{
		"name", "versions", "platform", "inputs", "inputs[].name", "inputs[].datatype", "inputs[].shape",
		"outputs", "outputs[].name", "outputs[].datatype", "outputs[].shape",
	}
}

// lookUp is the value at path; of a list, its first element's. ok is false where the capture has
// nothing to compare.
func lookUp(v any, path string) (value any, ok bool) {
	for _, step := range strings.Split(path, ".") {
		key, list := strings.CutSuffix(step, "[]")
		m, is := v.(map[string]any)
		if !is {
			return nil, false
		}
		if v, ok = m[key]; !ok {
			return nil, false
		}
		if list {
			l, is := v.([]any)
			if !is || len(l) == 0 {
				return nil, false
			}
			v = l[0]
		}
	}
	return v, v != nil
}

// TestAnswersLikeRealServers replays what was sent to real servers and compares the answers field
// by field: the same status, every field of the protocol with the same JSON type, and of inferences
// the same tensors.
func TestAnswersLikeRealServers(t *testing.T) {
	s := start(t, Config{})
	for _, file := range []string{"mlserver.txt", "kserve.txt"} {
		all := captures(t, file)
		if len(all) < 6 {
			t.Errorf("%s: %d cases", file, len(all))
		}
		for _, c := range all {
			t.Run(strings.TrimSuffix(file, ".txt")+"/"+c.name, func(t *testing.T) { replay(t, s, c) })
		}
	}
}

func replay(t *testing.T, s *Server, c capture) {
	req, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(c.request)))
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(c.response)), req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	theirs, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	a, err := request(t, client(t), req.Method, s.HTTPURL()+ownModel(req.URL.Path, body), nil, body)
	if err != nil {
		t.Fatal(err)
	}
	if a.status != resp.StatusCode {
		t.Fatalf("status %d, a real server gave %d\n%s", a.status, resp.StatusCode, a.body)
	}
	if fields := protocolFields(req.URL.Path, req.Method, a.status); fields != nil {
		compareFields(t, fields, theirs, a.body)
	}
}

// ownModel puts the model of ours in the path that fits the request's datatype.
func ownModel(path string, body []byte) string {
	var r jsonRequest
	own := "identity"
	if json.Unmarshal(body, &r) == nil && len(r.Inputs) > 0 {
		own = "identity_" + strings.ToLower(r.Inputs[0].Datatype)
	}
	return strings.Replace(path, "/models/ident", "/models/"+own, 1)
}

func compareFields(t *testing.T, fields []string, theirs, ours []byte) {
	t.Helper()
	parse := func(b []byte) any {
		d := json.NewDecoder(bytes.NewReader(b))
		d.UseNumber()
		var v any
		if err := d.Decode(&v); err != nil {
			t.Fatalf("%v in %s", err, b)
		}
		return v
	}
	a, b := parse(theirs), parse(ours)
	for _, f := range fields {
		their, ok := lookUp(a, f)
		own, have := lookUp(b, f)
		if !have {
			t.Errorf("%s is missing in %s", f, ours)
		}
		if !ok {
			continue
		}
		if x, y := fmt.Sprintf("%T", their), fmt.Sprintf("%T", own); x != y {
			t.Errorf("%s is a %s, a real server has a %s", f, y, x)
		}
		// Of an inference the tensors themselves are defined, of metadata only their form: the models differ.
		if slices.Contains(fields, "outputs[].data") && strings.HasPrefix(f, "outputs[].") {
			if diff := cmp.Diff(flatNumbers(their), flatNumbers(own)); diff != "" {
				t.Errorf("%s: %s", f, diff)
			}
		}
	}
	if id, ok := lookUp(a, "id"); ok && id == "r1" {
		if own, _ := lookUp(b, "id"); own != id {
			t.Errorf("id %v, want %v", own, id)
		}
	}
}

// flatNumbers makes one list of nested ones and compares numbers by value: both servers may write 1
// or 1.0, lists or lists of lists.
func flatNumbers(v any) any {
	switch v := v.(type) {
	case []any:
		flat := []any{}
		for _, e := range v {
			if l, ok := flatNumbers(e).([]any); ok {
				flat = append(flat, l...)
			} else {
				flat = append(flat, flatNumbers(e))
			}
		}
		return flat
	case json.Number:
		return strings.TrimSuffix(v.String(), ".0")
	}
	return v
}
