package tokenizer

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// texts returns the texts of testdata, which has the ids that other programs give them.
func texts(t testing.TB) (list []string) {
	t.Helper()
	data, err := os.ReadFile("testdata/texts.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		var text string
		if err := json.Unmarshal([]byte(line), &text); err != nil {
			t.Fatal(err)
		}
		list = append(list, text)
	}
	return list
}

// variant returns a vocabulary of testdata with another way to words.
func variant(t testing.TB, name string) *Tokenizer {
	t.Helper()
	if encoding, ok := strings.CutPrefix(name, "tiktoken-"); ok {
		data, err := os.ReadFile("testdata/ranks.tiktoken")
		if err != nil {
			t.Fatal(err)
		}
		k, err := Parse(encoding+"_base.tiktoken", data)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	var variants []map[string]json.RawMessage
	read(t, "variants.json", &variants)
	for _, v := range variants {
		if string(v["name"]) != strconv.Quote(name) {
			continue
		}
		var of string
		var doc, model map[string]json.RawMessage
		_ = json.Unmarshal(v["of"], &of)
		read(t, of+".json", &doc)
		if err := json.Unmarshal(doc["model"], &model); err != nil {
			t.Fatal(err)
		}
		if patch := v["model"]; patch != nil {
			if err := json.Unmarshal(patch, &model); err != nil {
				t.Fatal(err)
			}
		}
		maps.Copy(doc, v)
		doc["model"], _ = json.Marshal(model)
		data, _ := json.Marshal(doc)
		k, err := Parse("tokenizer.json", data)
		if err != nil {
			t.Fatalf("%s: %s", name, err)
		}
		return k
	}
	t.Fatalf("there is no variant %s", name)
	return nil
}

func read(t testing.TB, name string, into any) {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestIDs: the ids are those of the packages tokenizers and tiktoken, for 1,000 texts of many scripts;
// testdata/make.py wrote them.
func TestIDs(t *testing.T) {
	expected, err := os.ReadFile("testdata/expected.txt")
	if err != nil {
		t.Fatal(err)
	}
	list := texts(t)
	for line := range strings.Lines(string(expected)) {
		fields := strings.Fields(line)
		k := variant(t, fields[0])
		sums, total := fields[2:], 0
		if len(sums)*10 != len(list) {
			t.Fatalf("%s: %d sums for %d texts", fields[0], len(sums), len(list))
		}
		for i, some := range slices.Collect(slices.Chunk(list, 10)) {
			var ids [][]int
			for _, text := range some {
				ids = append(ids, append([]int{}, k.Encode(text)...))
				total += len(ids[len(ids)-1])
				if k.Count(text) != len(ids[len(ids)-1]) {
					t.Errorf("%s: %q is counted as %d tokens", fields[0], text, k.Count(text))
				}
			}
			got, _ := json.Marshal(ids)
			if sum := fmt.Sprintf("%08x", crc32.ChecksumIEEE(got)); sum != sums[i] {
				t.Errorf("%s: texts %d to %d have other ids: %q", fields[0], 10*i, 10*i+9, some)
			}
		}
		if want := fields[1]; strconv.Itoa(total) != want {
			t.Errorf("%s: %d tokens in all, want %s", fields[0], total, want)
		}
	}
}
