package format

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/scenario"
)

// TestManyRows: rows cost memory beside their file, so a dataset of more than can be held is
// refused while it is read, in each format that has rows.
func TestManyRows(t *testing.T) {
	const most = 100
	for name, text := range map[string][3]string{
		"rows.jsonl": {"", "{\"x\":1}\n", ""},
		"rows.json":  {"[{\"x\":1}", ",{\"x\":1}", "]"},
		"pa.json":    {"{\"data\":[{\"x\":[1]}", ",{\"x\":[1]}", "]}"},
		"steps.json": {"{\"data\":[[{\"x\":[1]}]", ",[{\"x\":[1]}]", "]}"},
		"table.csv":  {"x\n", "1\n", ""},
		"v2.json":    {"", `{"inputs":[{"name":"x","datatype":"FP32","shape":[1],"data":[1]}]}` + "\n", ""},
	} {
		for rows, want := range map[int]string{
			most - 1: "", 3 * most: "the dataset has more than 1048576 rows, no more can be held",
		} {
			file := filepath.Join(t.TempDir(), name)
			if err := os.WriteFile(file, []byte(text[0]+strings.Repeat(text[1], rows)+text[2]), 0o600); err != nil {
				t.Fatal(err)
			}
			r := newReader(&scenario.Dataset{Name: "main", Source: "file", Files: []scenario.Path{{Name: file}}})
			r.rows = most
			r.readFile(r.dataset.Files[0])
			if want == "" && len(r.Diags) > 0 ||
				want != "" && (len(r.Diags) != 1 || !strings.Contains(r.Diags[0].Summary, want)) {
				t.Errorf("%s of %d: %v, want %q", name, rows, r.Diags, want)
			}
			if len(r.Records) > most {
				t.Errorf("%s of %d: %d rows are held", name, rows, len(r.Records))
			}
		}
	}
}
