package feed

import (
	"bytes"
	"encoding/json"

	"github.com/sluice-bench/sluice/executor/feed/format"
	"github.com/sluice-bench/sluice/executor/feed/prompt"
)

// blockTexts writes the prompts of rows of which only the lengths and the blocks are known. A block has the
// text of its number alone, wherever it is, so that a server's cache finds it again.
type blockTexts struct {
	maker *prompt.Maker
	known map[block][]byte // as JSON writes them between the quotes
}

// block is a number of a block, and how many tokens there are of it.
type block struct {
	id uint64
	n  int64
}

// maxBlocks limits the texts of blocks that are kept.
const maxBlocks = 1 << 16

// prompt returns the prompt of a row as JSON. What belongs to no block is the row's own.
func (t *blockTexts) prompt(b *build, rec *format.Record) ([]byte, error) {
	if t.maker == nil {
		var err error
		if t.maker, err = prompt.NewMaker(b.sig.Count, prompt.Corpus); err != nil {
			return nil, err
		}
		t.known = map[block][]byte{}
	}
	p := rec.Blocks
	text := append(make([]byte, 0, 6*p.Tokens+2), '"')
	left := p.Tokens
	for _, id := range p.IDs {
		if left < p.Tokens {
			text = append(text, ' ')
		}
		at := block{id, min(left, p.Size)}
		text = append(text, t.block(at, mix(b.seed^mix(id)))...)
		left -= at.n
	}
	if p.IDs == nil {
		own := mix(b.seed^Hash(b.dataset.Name+"\x00"+rec.From.Name)) + uint64(rec.Number)
		text = append(text, t.write(left, mix(own))...)
	}
	return append(text, '"'), nil
}

// block returns the text of a block, which the seed gives.
func (t *blockTexts) block(at block, seed uint64) []byte {
	text, known := t.known[at]
	if !known {
		if text = t.write(at.n, seed); len(t.known) < maxBlocks {
			t.known[at] = text
		}
	}
	return text
}

// write writes a text of n tokens.
func (t *blockTexts) write(n int64, seed uint64) []byte {
	text, _ := t.maker.Text(int(n), seed)
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text)              // a text can be encoded, whatever it is
	return b.Bytes()[1 : b.Len()-2] // without the quotes and the end of the line
}
