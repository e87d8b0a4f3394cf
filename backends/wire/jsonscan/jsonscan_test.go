package jsonscan

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// FuzzStrict: a strict scanner takes what encoding/json takes, and nothing else.
func FuzzStrict(f *testing.F) {
	for _, seed := range []string{
		`{"a":[1,-0.5e+7,"x\n",true,null]}`, `[01]`, `[1,]`, `{"a"}`, `"\x"`, `[[]]`, "\"\x01\"", `-`, `1e`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		sc := Strict(data)
		sc.Skip()
		sc.End()
		depth := bytes.Count(data, []byte("[")) + bytes.Count(data, []byte("{"))
		if bytes.Contains(data, []byte("NaN")) || bytes.Contains(data, []byte("Infinity")) || depth > MaxDepth {
			return // more is taken, or less
		}
		if valid := json.Valid(data); valid != sc.OK() {
			t.Errorf("%q: JSON %v, read %v", data, valid, sc.Err())
		}
	})
}

// FuzzLenient: a lenient scanner takes what encoding/json takes, and what a strict one takes.
func FuzzLenient(f *testing.F) {
	for _, seed := range []string{`{"a":[1,-0.5e+7,"x\n",true,null]}`, `[NaN,-Infinity]`, `{"\u00e9":"\ud800"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		lenient, strict := Lenient(data), Strict(data)
		lenient.Skip()
		strict.Skip()
		if strict.OK() && (!lenient.OK() || lenient.Offset() != strict.Offset()) {
			t.Errorf("%q: strict to %d, lenient %v to %d", data, strict.Offset(), lenient.Err(), lenient.Offset())
		}
	})
}

// TestMistakes: each mistake is named, with its place.
func TestMistakes(t *testing.T) {
	for text, want := range map[string]string{
		`{"a" 1}`:                `line 1, column 6: found "1", want ":"`,
		`{1}`:                    `line 1, column 2: found "1", want "\""`,
		"[1,\n 2":                `line 2, column 3: found the end, want "," or "]"`,
		`[1 2]`:                  `line 1, column 4: found "2", want "," or "]"`,
		`[,1]`:                   `line 1, column 2: found ",", want a value`,
		`[1_0]`:                  `line 1, column 2: "1_0" is no value`,
		`[truth]`:                `line 1, column 2: "truth" is no value`,
		"\"a\tb\"":               `line 1, column 3: a control character inside a string`,
		`["a`:                    `line 1, column 4: a string does not end`,
		`["\x"]`:                 `line 1, column 6: a string has a broken escape: "\"\\x\""`,
		`1 2`:                    `line 1, column 3: "2" after the end of the value`,
		strings.Repeat("[", 100): `line 1, column 66: lists and maps are nested deeper than 64`,
	} {
		sc := Strict([]byte(text))
		sc.Skip()
		sc.End()
		if err := sc.Mistake(); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// TestPlain: of all bytes, at any place, before and behind any other, the first that is special is found.
func TestPlain(t *testing.T) {
	special := func(c byte) bool { return c == '"' || c == '\\' || c < ' ' }
	for at := range 19 {
		for c := range 256 {
			for other := range 256 {
				b := []byte(strings.Repeat("x", 20))
				b[at], b[at+1] = byte(c), byte(other)
				want := slices.IndexFunc(b, special)
				if want < 0 {
					want = len(b)
				}
				if got := plain(b); got != want {
					t.Fatalf("%q: %d, want %d", b, got, want)
				}
			}
		}
	}
}

// TestDoesNotAllocate: neither valid texts nor broken ones allocate until the mistake is read.
func TestDoesNotAllocate(t *testing.T) {
	for _, text := range []string{
		`{"id":"1","outputs":[{"name":"o","shape":[1,2],"data":[1.5,[2]]}],"n":[true,null]}`, `{"a":[1}`, `["`,
	} {
		b := []byte(text)
		if n := testing.AllocsPerRun(100, func() {
			lenient, strict := Lenient(b), Strict(b)
			lenient.Skip()
			strict.Skip()
			lenient = Lenient(b)
			for lenient.Enter('{'); lenient.More('}'); {
				lenient.Key()
				lenient.Count()
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", text, n)
		}
	}
}

// FuzzCount: what encoding/json takes for a list is passed over to its end, and has as many values as it finds.
func FuzzCount(f *testing.F) {
	for _, seed := range []string{
		"[]", "[1,2]", "[[1, -2.5e-3],[3]]", `["a,]","\"[",""]`, "[true,null,{}]", "[1,[2],3]", "[1,2,]", "[1 ,2]", "[ 1,2]", "[1,2e]", "[1,-]", "[01]", "[1,2", "7",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		sc := Lenient(text)
		n, _ := sc.Count()
		var list []any
		if json.Unmarshal(text, &list) != nil || list == nil {
			return // the scanner takes more than that
		}
		if want := leaves(list, 0); want >= 0 && (!sc.AtEnd() || n != want) {
			t.Errorf("%s: %d values, failed %v, want %d", text, n, !sc.OK(), want)
		}
	})
}

// leaves is how many values lists hold; -1: they lie deeper than a tensor's.
func leaves(list []any, depth int) (n int64) {
	if depth > MaxDepth/2 {
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
