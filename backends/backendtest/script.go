package backendtest

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// command is one line of a script.
type command struct {
	word  string
	bytes []byte
	n     int
	wait  time.Duration
}

// parseScript reads a script: one command a line, # starts a comment.
//
//	script     = 1*connection          ; the last one serves all further connections
//	connection = "accept" *command     ; at its end the connection is closed
//	command    = "read" SP ( "head" / "size" / NUMBER )  ; up to an empty line; one request; so many bytes
//	           / "await" SP STRING     ; up to and with these bytes
//	           / "send" SP STRING      ; a Go string
//	           / "sendhex" SP HEX
//	           / "split" SP NUMBER [ SP DURATION ]  ; later sends go out in pieces of so many bytes, pausing in between
//	           / "delay" SP DURATION
//	           / "reset"               ; close with RST
//	           / "close"
//	           / "hang"                ; hold the connection until the server stops
//	           / "repeat"              ; go on at the line after accept
func parseScript(text string) (connections [][]command, err error) {
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		word, value, _ := strings.Cut(line, " ")
		if word == "accept" {
			connections = append(connections, nil)
			continue
		}
		if len(connections) == 0 {
			return nil, fmt.Errorf("script line %d: %q before accept", i+1, line)
		}
		c, err := parseCommand(word, strings.TrimSpace(value))
		if err != nil {
			return nil, fmt.Errorf("script line %d: %q: %w", i+1, line, err)
		}
		last := &connections[len(connections)-1]
		*last = append(*last, c)
	}
	if len(connections) == 0 {
		return nil, fmt.Errorf("script has no accept")
	}
	return connections, nil
}

func parseCommand(word, value string) (c command, err error) {
	c.word = word
	switch word {
	case "read":
		if value == "head" || value == "size" {
			c.word = "read " + value
			return c, nil
		}
		c.n, err = strconv.Atoi(value)
	case "await", "send":
		var s string
		s, err = strconv.Unquote(value)
		c.bytes = []byte(s)
	case "sendhex":
		c.word = "send"
		c.bytes, err = hex.DecodeString(value)
	case "split":
		n, wait, both := strings.Cut(value, " ")
		if c.n, err = strconv.Atoi(n); err == nil && both {
			c.wait, err = time.ParseDuration(wait)
		}
	case "delay":
		c.wait, err = time.ParseDuration(value)
	case "reset", "close", "hang", "repeat":
		if value != "" {
			err = fmt.Errorf("takes no value")
		}
	default:
		err = fmt.Errorf("no such command")
	}
	return c, err
}
