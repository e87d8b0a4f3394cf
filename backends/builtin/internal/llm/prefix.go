package llm

// blockSize is the number of tokens in a block of a PrefixCache.
const blockSize = 16

// maxBlocks is the number of blocks that a PrefixCache keeps; it is emptied when they are full.
const maxBlocks = 1 << 18

// PrefixCache holds the prompts seen so far, in blocks of blockSize tokens, each of which counts with all
// before it. The time to the first token is shorter by the cached share of a prompt.
type PrefixCache map[uint64]struct{}

// Add returns the number of leading tokens of a prompt that were cached, never all of them, and adds it.
func (c PrefixCache) Add(prompt []string) (cached int) {
	if len(c) > maxBlocks {
		clear(c)
	}
	h := uint64(14695981039346656037) // FNV-1a
	known := true
	for i, token := range prompt {
		for j := range len(token) {
			h = (h ^ uint64(token[j])) * 1099511628211
		}
		h = (h ^ ' ') * 1099511628211
		if (i+1)%blockSize != 0 {
			continue
		}
		if _, has := c[h]; known && has && i+1 < len(prompt) {
			cached = i + 1
		} else {
			known = false
		}
		c[h] = struct{}{}
	}
	return cached
}
