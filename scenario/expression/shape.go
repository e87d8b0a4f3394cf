package expression

import "strings"

// shape checks what is seen on tokens only: brackets (the parser would name the wrong place), how deep they and the
// signs go, and chained comparisons, which the parser silently takes for two. It gives the matching bracket of each
// bracket, by token. Chained comparisons are only looked for in whole tokens: where an operator was refused, two
// comparisons need not be one chain.
func shape(text []rune, tokens []token, whole bool) (match map[int]int, problems []problem) {
	match = map[int]int{}
	s := shaper{text: text, tokens: tokens, whole: whole, levels: []level{{}}}
	for i, t := range tokens {
		s.prefix(i, t)
		switch {
		case t.text == "(" && t.kind == tokBracket:
			s.open(i)
		case t.text == ")" && t.kind == tokBracket:
			s.close(i, match)
		case t.kind == tokWord, t.text == "," && t.kind == tokOperator:
			s.segment(i)
			s.top().from = i + 1
		case isComparison(t):
			s.top().comparisons = append(s.top().comparisons, i)
		}
	}
	for len(s.levels) > 1 {
		open := s.top().open
		s.refuse(tokens[open].from, tokens[open].to, codeSyntax, neverClosed, "")
		s.segment(len(tokens))
		s.levels = s.levels[:len(s.levels)-1]
	}
	s.segment(len(tokens))
	return match, s.problems
}

type shaper struct {
	text     []rune
	tokens   []token
	levels   []level
	whole    bool
	run      int // signs and nots before the next operand
	deep     bool
	problems []problem
}

// level is what stands inside one pair of brackets.
type level struct {
	open        int   // token of its (
	from        int   // first token after the last and, or, not or comma
	comparisons []int // tokens of the comparisons since from
}

func (s *shaper) top() *level { return &s.levels[len(s.levels)-1] }

func (s *shaper) refuse(from, to int, code, summary, detail string) {
	s.problems = append(s.problems, problem{from: from, to: to, code: code, summary: summary, detail: detail})
}

// prefix counts signs and nots that follow one another.
func (s *shaper) prefix(i int, t token) {
	if t.kind != tokOperator && t.kind != tokWord || t.text != "-" && t.text != "not" {
		s.run = 0
		return
	}
	if s.run++; s.run > maxDepth {
		s.tooDeep(i)
	}
}

func (s *shaper) tooDeep(i int) {
	if !s.deep {
		s.deep = true
		s.refuse(s.tokens[i].from, s.tokens[i].to, codeTooLong, "this is nested too deep", "")
	}
}

func (s *shaper) open(i int) {
	if len(s.levels) > maxDepth {
		s.tooDeep(i)
	}
	s.levels = append(s.levels, level{open: i, from: i + 1})
}

func (s *shaper) close(i int, match map[int]int) {
	s.segment(i)
	if len(s.levels) == 1 {
		s.refuse(s.tokens[i].from, s.tokens[i].to, codeSyntax, neverOpened, "")
		s.top().from = i + 1
		return
	}
	open := s.top().open
	match[open], match[i] = i, open
	s.levels = s.levels[:len(s.levels)-1]
}

// segment ends a run of tokens that may hold one comparison, before token end.
func (s *shaper) segment(end int) {
	l := s.top()
	cs := l.comparisons
	l.comparisons = nil
	if len(cs) < 2 || !s.whole {
		return
	}
	for i := l.from + 1; i < end; i++ {
		call := s.tokens[i].text == "(" && s.tokens[i-1].kind == tokName
		if startsOperand(s.tokens[i]) && endsOperand(s.tokens[i-1]) && !call {
			s.problems = append(s.problems, unjoined(s.text, s.tokens, i))
			return
		}
	}
	bounds := append([]int{l.from - 1}, cs...)
	bounds = append(bounds, end)
	parts := make([]string, 0, len(cs)+1)
	for k := range bounds[1:] {
		parts = append(parts, s.slice(bounds[k]+1, bounds[k+1]))
	}
	offer := make([]string, 0, len(cs))
	for k, c := range cs {
		offer = append(offer, parts[k]+" "+s.tokens[c].text+" "+parts[k+1])
	}
	s.refuse(s.tokens[cs[1]].from, s.tokens[cs[1]].to, codeChained, "comparisons cannot be chained",
		"write "+strings.Join(offer, " and "))
}

// slice is the text of tokens from up to, not including, to.
func (s *shaper) slice(from, to int) string {
	if from >= to {
		return "…"
	}
	return string(s.text[s.tokens[from].from:s.tokens[to-1].to])
}

func isComparison(t token) bool {
	if t.kind != tokOperator {
		return false
	}
	switch t.text {
	case "<", "<=", ">", ">=", "==", "!=":
		return true
	}
	return false
}
