package prompt

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/executor/tokenizer"
)

// makers returns a maker for each kind of tokenizer, and the tokenizers.
func makers(t *testing.T) (map[string]*Maker, map[string]*tokenizer.Tokenizer) {
	t.Helper()
	list, by := map[string]*Maker{}, map[string]*tokenizer.Tokenizer{}
	for _, name := range []string{"bytelevel", "sentencepiece", "unigram", "wordpiece"} {
		k, err := tokenizer.Open(filepath.Join("../../tokenizer/testdata", name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		if list[name], err = NewMaker(k.Count, Corpus); err != nil {
			t.Fatal(err)
		}
		by[name] = k
	}
	return list, by
}

// TestLengths: 1,000 texts for each kind of tokenizer have exactly as many tokens as were asked for, alone
// and joined to others.
func TestLengths(t *testing.T) {
	list, by := makers(t)
	for name, m := range list {
		k := by[name]
		for i := range 1000 {
			n := 1 + i%200
			text, said := m.Text(n, uint64(i))
			if got := k.Count(text); got != n || said != n {
				t.Fatalf("%s: a text of %d tokens has %d, and is said to have %d: %q", name, n, got, said, text)
			}
		}
		blocks, sum := []string{}, 0
		for i := range 40 {
			text, n := m.Text(5+i, uint64(i))
			blocks, sum = append(blocks, text), sum+n
		}
		if got := k.Count(strings.Join(blocks, " ")); got != sum {
			t.Errorf("%s: blocks of %d tokens have %d when they are joined", name, sum, got)
		}
	}
}

// TestSeeds: the same seed gives the same bytes, another one others; a longer text continues a shorter one.
func TestSeeds(t *testing.T) {
	list, _ := makers(t)
	again, _ := makers(t)
	for name, m := range list {
		seen := map[string]bool{}
		for seed := range uint64(300) {
			text, _ := m.Text(40, seed)
			if other, _ := again[name].Text(40, seed); other != text {
				t.Fatalf("%s: seed %d gives %q, and then %q", name, seed, text, other)
			}
			if seen[text] {
				t.Errorf("%s: seed %d gives the text of another seed", name, seed)
			}
			seen[text] = true
		}
		long, _ := m.Text(400, 7)
		short, _ := m.Text(300, 7)
		if same := commonPrefix(long, short); same < len(short)*9/10 {
			t.Errorf("%s: only %d of %d bytes of a text begin a longer one of the same seed", name, same, len(short))
		}
	}
}

func commonPrefix(a, b string) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

// TestWords: without a tokenizer a word is a token; corpora of the user's may have any words.
func TestWords(t *testing.T) {
	for _, corpus := range []string{Corpus, "one", "日本語の長い文章" + strings.Repeat("字", 100) + " x"} {
		m, err := NewMaker(nil, corpus)
		if err != nil {
			t.Fatal(err)
		}
		for n := range 50 {
			if text, said := m.Text(n, 1); len(strings.Fields(text)) != n || said != n {
				t.Errorf("%d words were wanted, and said to be %d: %q", n, said, text)
			}
		}
	}
	if _, err := NewMaker(nil, " \n"); err == nil {
		t.Error("a corpus without words was taken")
	}
}
