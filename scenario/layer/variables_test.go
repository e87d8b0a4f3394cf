package layer

import (
	"testing"

	"github.com/sluice-bench/sluice/scenario/source"
)

// TestTypeOfForm infers the type of a variable from how its default is written.
func TestTypeOfForm(t *testing.T) {
	tests := []struct{ written, want string }{
		{"4", "int"},
		{"0.5", "number"},
		{"true", "bool"},
		{"50ms", "duration"},
		{"200/s", "rate"},
		{"0.1%", "ratio"},
		{"64MiB", "size"},
		{"0.5kW", "power"},
		{"word", "text"},
		{`"4"`, "text"},
		{`"true"`, "text"},
		{`"50ms"`, "duration"},
		{"50 ms", "duration"},
		{"5min", "duration"},
		{"200 /s", "rate"},
		{"0.1 %", "ratio"},
		{`""`, "text"},
		{`"a: b"`, "text"},
	}
	for _, tt := range tests {
		root, ds := source.Parse("p", []byte("v: "+tt.written))
		if root == nil {
			t.Fatalf("%s: %v", tt.written, ds)
		}
		if got := typeOfForm(root.Get("v")); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.written, got, tt.want)
		}
	}
}
