package feed

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/backends/tensor"
	"github.com/sluice-bench/sluice/scenario"
)

const benchRows = 100_000

// benchFile is a file of rows of two tensors of 16 elements.
func benchFile(b *testing.B, name, head, join, tail string) *scenario.Dataset {
	b.Helper()
	var text strings.Builder
	text.WriteString(head)
	for i := range benchRows {
		if i > 0 {
			text.WriteString(join)
		}
		fmt.Fprintf(&text,
			`{"INPUT0":[%d,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15],"INPUT1":[0.5,1.25,-2,3,4.125,5,6,7,8,9,10,11,12,`+
				`13,14,15e-1]}`,
			i)
	}
	text.WriteString(tail)
	path := filepath.Join(b.TempDir(), name)
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(text.Len()))
	return &scenario.Dataset{Name: "main", Source: "file", Files: []scenario.Path{{Name: path}}, AtEnd: "repeat"}
}

func benchBuild(b *testing.B, d *scenario.Dataset) {
	sig := signature(true, 8, port("INPUT0", tensor.Int32, 16), port("INPUT1", tensor.FP32, 16))
	b.ReportAllocs()
	for b.Loop() {
		built, diags := Build(d, &scenario.Request{Batch: 1}, sig, 0)
		if len(diags) > 0 || len(built.Requests) != benchRows {
			b.Fatal(len(built.Requests), diags)
		}
	}
}

// BenchmarkBuild makes the requests of 100,000 rows; BenchmarkJSON is what encoding/json needs to
// read the same file.
func BenchmarkBuild(b *testing.B) {
	b.Run("perf_analyzer",
		func(b *testing.B) { benchBuild(b, benchFile(b, "rows.json", `{"data":[`, ",\n", "]}")) })
	b.Run("jsonl", func(b *testing.B) { benchBuild(b, benchFile(b, "rows.jsonl", "", "\n", "\n")) })
}

func BenchmarkJSON(b *testing.B) {
	d := benchFile(b, "rows.json", `{"data":[`, ",\n", "]}")
	data, err := os.ReadFile(d.Files[0].Name)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("any", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			var v any
			if err := json.Unmarshal(data, &v); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("typed", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			var v struct {
				Data []struct {
					INPUT0 []int32
					INPUT1 []float32
				}
			}
			if err := json.Unmarshal(data, &v); err != nil {
				b.Fatal(err)
			}
		}
	})
}
