package grpc

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/backends"
)

// mapKinds are the kinds of keys, with a key of each.
var mapKinds = map[string]string{
	"int32": "-5", "sint32": "-5", "sfixed32": "-5", "int64": "-5000000000", "sint64": "-5000000000",
	"sfixed64": "-5000000000", "uint32": "4000000000", "fixed32": "4000000000",
	"uint64": "18446744073709551615", "fixed64": "18446744073709551615", "bool": "false", "string": "k",
}

// mapsMethod returns a method whose messages have a map for each kind of key, m_KIND.
func mapsMethod(t *testing.T) *method {
	t.Helper()
	var text strings.Builder
	text.WriteString("syntax = \"proto3\"; package t; service S { rpc C(M) returns (M); }\nmessage M {\n")
	n := 0
	for kind := range mapKinds {
		n++
		fmt.Fprintf(&text, "map<%s, int64> m_%s = %d;\n", kind, kind, n)
	}
	file := filepath.Join(t.TempDir(), "maps.proto")
	if err := os.WriteFile(file, []byte(text.String()+"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	files, err := compile(&backends.Protos{Files: []string{file}})
	if err != nil {
		t.Fatal(err)
	}
	m, err := findMethod(files, &backends.Target{Method: "t.S/C"})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestMapKeys: a value is found by its key, whatever the kind of the keys.
func TestMapKeys(t *testing.T) {
	m := mapsMethod(t)
	for kind, key := range mapKinds {
		message, err := m.message(fmt.Appendf(nil, `{"m_%s": {%q: "7"}}`, kind, key), mediaJSON)
		if err != nil {
			t.Fatal(err)
		}
		path := "m_" + kind + "." + key
		for want, mismatch := range map[any]string{
			int64(7): "", nil: "field " + path + " is 7, want none",
			int64(8): "field " + path + " is 7, want 8",
		} {
			e, err := m.expect(&backends.Expect{Fields: []backends.Field{{Path: path, Want: want}}})
			if err != nil {
				t.Errorf("%s: %v", path, err)
				continue
			}
			if got := string(e.appendMismatch(nil, message)); got != mismatch {
				t.Errorf("%s: %q, want %q", path, got, mismatch)
			}
		}
	}
	for kind, key := range map[string]string{
		"bool": "1", "int32": "5000000000", "uint64": "-1", "sint64": "x", "fixed32": "5000000000",
	} {
		_, err := m.expect(&backends.Expect{Fields: []backends.Field{{Path: "m_" + kind + "." + key}}})
		if err == nil || !strings.Contains(err.Error(), "is no key of a map with keys of "+kind) {
			t.Errorf("%s %s: %v", kind, key, err)
		}
	}
}
