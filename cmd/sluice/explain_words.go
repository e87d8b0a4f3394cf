package main

import (
	_ "embed"
	"strings"
)

// wordText holds the words of plans, results and messages, each with its explanation.
//
//go:embed words.txt
var wordText string

// entries parses a text of paragraphs. Each has a title, on lines without indent, and a body, on
// lines with one. A paragraph that begins with # is a comment.
func entries(text string) (list [][2]string) {
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		var title, body []string
		for line := range strings.Lines(paragraph) {
			if strings.HasPrefix(line, " ") {
				body = append(body, strings.TrimSpace(line))
			} else if line = strings.TrimSpace(line); line != "" {
				title = append(title, line)
			}
		}
		if len(title) > 0 && !strings.HasPrefix(title[0], "#") {
			list = append(list, [2]string{strings.Join(title, " "), strings.Join(body, " ")})
		}
	}
	return list
}
