package backendtest

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// script is the parsed script of a Raw server.
type script struct {
	connections [][]command // the last one serves all further connections
	handlers    []handler
}

// handler is the answer to requests whose path ends in name, from the n-th such request of the
// server on. Of several that apply the one of the greatest n counts, of those the last.
type handler struct {
	name     string
	from     int
	commands []command
}

// command is one step of a script.
type command struct {
	word    string
	bytes   payload
	n       int
	wait    time.Duration
	frame   frameHead
	repeats *command // of "times"
}

// parseScript parses a script: one command per line, or several separated by semicolons; # starts a
// comment line.
//
//	script     = 1*connection *handler
//	           ; "define" SP NAME SP TEXT, anywhere, replaces $NAME by TEXT from there on
//	connection = "accept" *command
//	           ; the last one serves all further connections; at its end the connection is closed
//	handler    = "on" SP NAME [ SP N ] *command
//	           ; the answer of "serve" to requests whose path ends in NAME, from the N-th on
//	command    = "read" SP ( "head" / "size" / NUMBER )  ; up to an empty line; one request; bytes
//	           / "await" SP PAYLOAD       ; up to and with these bytes
//	           / "send" SP PAYLOAD
//	           / "sendraw" SP PAYLOAD     ; under TLS: not encrypted
//	           / "split" SP NUMBER [ SP DURATION ]
//	             ; later sends go out in pieces of NUMBER bytes, DURATION apart
//	           / "delay" SP DURATION
//	           / "times" SP NUMBER SP command
//	           / "reset"                  ; close with RST
//	           / "close"
//	           / "hang"                   ; hold the connection until the server stops
//	           / "repeat"                 ; continue at the line after accept
//	           / "tls" SP CERTIFICATE
//	             ; a TLS handshake: good, expired, future, other-host, untrusted, mutual
//	           / "serve" SP ( "http" / "grpc" )  ; answer requests by the handlers until the client goes
//	           / "good"                   ; in a handler: the previous handler of the same request
//
// See payload.go for PAYLOAD, serve_http.go and serve_grpc.go for the commands of each protocol.
func parseScript(text string) (*script, error) {
	s := &script{}
	var list *[]command
	defined := strings.NewReplacer()
	var words []string
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		line = defined.Replace(line)
		if text, is := strings.CutPrefix(line, "define "); is {
			name, text, _ := strings.Cut(text, " ")
			words = append(words, "$"+name, strings.TrimSpace(text))
			defined = strings.NewReplacer(words...)
			continue
		}
		steps, err := splitCommands(line)
		for k := 0; err == nil && k < len(steps); k++ {
			list, err = s.add(list, steps[k])
		}
		if err != nil {
			return nil, fmt.Errorf("script line %d: %q: %w", i+1, line, err)
		}
	}
	if len(s.connections) == 0 {
		return nil, errors.New("script has no accept")
	}
	return s, nil
}

// add parses one command, which may begin a connection or a handler, and returns the list that
// later ones belong to.
func (s *script) add(list *[]command, step string) (*[]command, error) {
	word, value, _ := strings.Cut(step, " ")
	value = strings.TrimSpace(value)
	switch {
	case word == "accept":
		s.connections = append(s.connections, nil)
		return &s.connections[len(s.connections)-1], nil
	case list == nil:
		return nil, errors.New("before accept")
	case word == "on":
		h := handler{}
		name, from, counted := strings.Cut(value, " ")
		h.name = name
		if counted {
			var err error
			if h.from, err = strconv.Atoi(from); err != nil {
				return nil, err
			}
		}
		s.handlers = append(s.handlers, h)
		return &s.handlers[len(s.handlers)-1].commands, nil
	}
	c, err := parseCommand(word, value)
	*list = append(*list, c)
	return list, err
}

// splitCommands splits a line at its semicolons, except those in strings.
func splitCommands(line string) (steps []string, err error) {
	from := 0
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case strings.IndexByte(quotes, c) >= 0:
			q, err := strconv.QuotedPrefix(line[i:])
			if err != nil {
				return nil, errors.New("a string does not end")
			}
			i += len(q) - 1
		case c == ';':
			steps, from = append(steps, strings.TrimSpace(line[from:i])), i+1
		}
	}
	return append(steps, strings.TrimSpace(line[from:])), nil
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
	case "await", "send", "sendraw", "chunk":
		c.bytes, err = parsePayload(value)
	case "split":
		n, wait, both := strings.Cut(value, " ")
		if c.n, err = strconv.Atoi(n); err == nil && both {
			c.wait, err = time.ParseDuration(wait)
		}
	case "delay":
		c.wait, err = time.ParseDuration(value)
	case "times":
		n, step, _ := strings.Cut(value, " ")
		if c.n, err = strconv.Atoi(n); err == nil {
			word, value, _ := strings.Cut(step, " ")
			c.repeats = new(command)
			*c.repeats, err = parseCommand(word, strings.TrimSpace(value))
		}
	case "tls", "serve":
		c.word = word + " " + value
		_, known := certificates[value]
		if word == "serve" && value != "http" && value != "grpc" || word == "tls" && !known {
			err = fmt.Errorf("no such %s", word)
		}
	case "reset", "close", "hang", "repeat", "good":
		if value != "" {
			err = errors.New("takes no value")
		}
	case "reply", "head":
		c, err = parseReply(word, value)
	default:
		return parseFrame(word, value)
	}
	return c, err
}

// parseReply parses an answer in one step: a status and, for a reply, the body or message; for a
// head, its fields.
func parseReply(word, value string) (c command, err error) {
	c.word = word
	status, rest, _ := strings.Cut(value, " ")
	if c.n, err = strconv.Atoi(status); err != nil {
		return c, err
	}
	if word == "head" {
		c.frame.fields, err = parseFields(rest)
		return c, err
	}
	c.bytes, err = parsePayload(rest)
	return c, err
}
