package jsonscan

// inWord and inNumber hold the bytes that words and numbers consist of.
var (
	inWord   = set("0123456789+-.abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
	inNumber = set("0123456789+-.eE")
)

func set(of string) (in [256]bool) {
	for _, c := range of {
		in[c] = true
	}
	return in
}

func digit(c byte) bool { return c-'0' <= 9 }

// isName reports whether w is a value that is written as a name.
func isName(w []byte) bool {
	switch string(w) {
	case "true", "false", "null", "NaN", "Infinity", "-Infinity":
		return true
	}
	return false
}

// IsNumber reports whether w is a number of JSON.
func IsNumber(w []byte) bool {
	i := 0
	digits := func() bool {
		start := i
		for i < len(w) && digit(w[i]) {
			i++
		}
		return i > start
	}
	if i < len(w) && w[i] == '-' {
		i++
	}
	if i < len(w) && w[i] == '0' {
		i++
	} else if !digits() {
		return false
	}
	if i < len(w) && w[i] == '.' {
		if i++; !digits() {
			return false
		}
	}
	if i < len(w) && (w[i] == 'e' || w[i] == 'E') {
		if i++; i < len(w) && (w[i] == '+' || w[i] == '-') {
			i++
		}
		if !digits() {
			return false
		}
	}
	return i == len(w)
}

// Count reads the values of a tensor, in arrays of any depth, and returns their number; -1 if the
// value is no array. texts reports whether strings or objects are among them.
func (s *Scanner) Count() (n int64, texts bool) {
	if s.Peek() != '[' {
		s.Skip()
		return -1, false
	}
	s.texts = false
	n = s.count(0)
	return n, s.texts
}

func (s *Scanner) count(depth int) (n int64) {
	if s.problem == none && depth > MaxDepth {
		s.problem = nested
	}
	s.Enter('[')
	for n = s.numbers(); s.More(']'); {
		c := s.Peek()
		if c == '[' {
			n += s.count(depth + 1)
			continue
		}
		s.texts = s.texts || c == '"' || c == '{'
		s.skip(depth)
		n++
	}
	return n
}

// numbers reads the plain numbers that an array begins with, and returns how many: most data are
// nothing else.
func (s *Scanner) numbers() (n int64) {
	if s.problem != none {
		return 0
	}
	b := s.b
	for at := s.at; ; n++ {
		if n > 0 {
			if at++; at < len(b) && b[at] == ' ' {
				at++
			}
		}
		from := at
		for at < len(b) && inNumber[b[at]] {
			at++
		}
		if at == from || at == len(b) || !digit(b[at-1]) || b[from] != '-' && !digit(b[from]) ||
			b[at] != ',' && b[at] != ']' {
			return n
		}
		s.at, s.first = at, false
		if b[at] == ']' {
			return n + 1
		}
	}
}

// Dimension reads a number that a shape can have: at most 18 digits. Any other value is skipped, and
// the result is -1.
func (s *Scanner) Dimension() int64 {
	if s.problem != none {
		return -1
	}
	s.Peek()
	start, n := s.at, int64(0)
	word := s.Word()
	for _, c := range word {
		if !digit(c) || len(word) > 18 {
			n = -1
			break
		}
		n = n*10 + int64(c-'0')
	}
	if n < 0 || len(word) == 0 {
		s.at, s.problem = start, none
		s.Skip()
		return -1
	}
	return n
}
