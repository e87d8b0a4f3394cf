package source

import "strings"

// Nearest is the word that was likely meant: the one at the smallest edit distance, if that is no more
// than a third of the longer one's length, or the word's two letters are swapped (di for id). Swapped
// neighbours count as one edit; case and - against _ count for nothing. The first of several equally
// near words wins; "" is none.
func Nearest(word string, words []string) string {
	best, bestAt := "", -1
	for _, w := range words {
		d := distance(fold(word), fold(w))
		longer := max(len([]rune(word)), len([]rune(w)))
		if d > longer/3 && !swapped(word, w) || w == word {
			continue
		}
		if bestAt < 0 || d < bestAt {
			best, bestAt = w, d
		}
	}
	return best
}

func swapped(a, b string) bool { return len(a) == 2 && len(b) == 2 && a[0] == b[1] && a[1] == b[0] }

func fold(s string) []rune { return []rune(strings.ReplaceAll(strings.ToLower(s), "-", "_")) }

// distance is the optimal string alignment distance: insertions, deletions, replacements and swaps of
// neighbours.
func distance(a, b []rune) int {
	before, last, now := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range now {
		now[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last, now = last, now, before
		now[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			now[j] = min(last[j]+1, now[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				now[j] = min(now[j], before[j-2]+1)
			}
		}
	}
	return now[len(b)]
}
