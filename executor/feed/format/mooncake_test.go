package format

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseTrace(t *testing.T) {
	good := `{"timestamp": 0, "input_length": 6955, "output_length": 52, "hash_ids": [46, 47]}` + "\r\n\n" +
		`{"timestamp": [27.5], "input_length": 10, "output_length": 0}`
	rows, err := parseTrace([]byte(good), msec)
	if err != nil {
		t.Fatal(err)
	}
	type row struct {
		due, in, out int64
		ids          []uint64
	}
	var got []row
	for _, r := range rows {
		got = append(got, row{r.due, *r.InputLength, *r.OutputLength, r.HashIDs})
	}
	want := []row{{0, 6955, 52, []uint64{46, 47}}, {27_500_000, 10, 0, nil}}
	if d := cmp.Diff(want, got, cmp.AllowUnexported(row{})); d != "" {
		t.Error(d)
	}
	line := func(s string) string { return `{"timestamp": 5, "input_length": 1, "output_length": 1}` + "\n" + s }
	for text, want := range map[string]string{
		"":                      "line 1: there are no rows in this file",
		line("[]"):              "line 2: this is no JSON map",
		line(`{"timestamp": 6`): "line 2: this is no JSON map: unexpected end of JSON input",
		line(`{"input_length": 1, "output_length": 1}`):                                    `line 2: there is no "timestamp" in this row`,
		line(`{"timestamp": 6, "output_length": 1}`):                                       `line 2: there is no "input_length" in this row`,
		line(`{"timestamp": 6, "input_length": 1}`):                                        `line 2: there is no "output_length" in this row`,
		line(`{"timestamp": 6, "input_length": -1, "output_length": 1}`):                   `line 2: "input_length" must be from 0 to 2147483647: -1`,
		line(`{"timestamp": 6, "input_length": 1.5, "output_length": 1}`):                  `line 2: "input_length" is no whole number that fits: number 1.5`,
		line(`{"timestamp": 6, "input_length": 1, "output_length": 1, "hash_ids": ["a"]}`): `line 2: "hash_ids" is no whole number that fits: string`,
		line("\n" + `{"timestamp": 4, "input_length": 1, "output_length": 1}`):             `line 3: this is due before the row in front of it; times must ascend`,
		line(`{"timestamp": "x", "input_length": 1, "output_length": 1}`):                  `line 2: "timestamp" must be one number: "x"`,
	} {
		if _, err := parseTrace([]byte(text), msec); err == nil || err.Error() != want {
			t.Errorf("%s:\n got %v\nwant %s", text, err, want)
		}
	}
}

// A trace of a dataset is read when a plan is compiled: every row says when it is due, or its file
// and line are named.
func FuzzParseTrace(f *testing.F) {
	f.Add(`{"timestamp": 0, "input_length": 6955, "output_length": 52, "hash_ids": [46, 47]}`)
	f.Add("{\"timestamp\": [1e3]}\nnull")
	f.Fuzz(func(t *testing.T, text string) {
		rows, err := parseTrace([]byte(text), msec)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "line ") {
				t.Errorf("no line in %q", err)
			}
			return
		}
		last := int64(0)
		for _, r := range rows {
			if r.due < last || r.InputLength == nil || r.OutputLength == nil {
				t.Errorf("%+v after %d", r, last)
			}
			last = r.due
		}
	})
}
