package kserve

import (
	"encoding/json"
	"testing"
)

// FuzzCount: what encoding/json takes for a list is passed over to its end, and has as many values as it finds.
func FuzzCount(f *testing.F) {
	for _, seed := range []string{
		"[]", "[1,2]", "[[1, -2.5e-3],[3]]", `["a,]","\"[",""]`, "[true,null,{}]", "[1,[2],3]", "[1,2,]", "[1 ,2]", "[ 1,2]", "[1,2e]", "[1,-]", "[01]", "[1,2", "7",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		sc := scanner{b: text}
		n := sc.count()
		var list []any
		if json.Unmarshal(text, &list) != nil || list == nil {
			return // the scanner takes more than that
		}
		if want := leaves(list, 0); want >= 0 && (!sc.end() || n != want) {
			t.Errorf("%s: %d values, bad %v, want %d", text, n, sc.bad, want)
		}
	})
}

// leaves is how many values lists hold; -1: they lie deeper than a tensor's.
func leaves(list []any, depth int) (n int64) {
	if depth > maxDepth/2 {
		return -1
	}
	for _, v := range list {
		switch v := v.(type) {
		case []any:
			below := leaves(v, depth+1)
			if below < 0 {
				return -1
			}
			n += below
		case map[string]any:
			return -1 // none that a tensor has
		default:
			n++
		}
	}
	return n
}
