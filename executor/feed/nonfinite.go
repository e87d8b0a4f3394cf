package feed

import "bytes"

// bare marks a string that was a bare NaN, Infinity or -Infinity in the file.
const bare = "\x00"

// quoteNonFinite makes marked strings of the literals NaN, Infinity and -Infinity, which perf_analyzer's files may hold
// and JSON does not know.
func quoteNonFinite(data []byte) []byte {
	if !bytes.Contains(data, []byte("NaN")) && !bytes.Contains(data, []byte("Infinity")) {
		return data
	}
	out := make([]byte, 0, len(data)+64)
	inString := false
	for i := 0; i < len(data); i++ {
		c := data[i]
		switch {
		case inString:
			if c == '\\' && i+1 < len(data) {
				out = append(out, c)
				i++
				c = data[i]
			} else if c == '"' {
				inString = false
			}
		case c == '"':
			inString = true
		default:
			if word := nonFinite(data[i:]); word != "" {
				out = append(append(append(out, `"\u0000`...), word...), '"')
				i += len(word) - 1
				continue
			}
		}
		out = append(out, c)
	}
	return out
}

func nonFinite(data []byte) string {
	for _, word := range []string{"NaN", "Infinity", "-Infinity"} {
		if bytes.HasPrefix(data, []byte(word)) {
			return word
		}
	}
	return ""
}
