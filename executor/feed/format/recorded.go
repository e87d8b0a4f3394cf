package format

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sluice-bench/sluice/backends/wire/jsonscan"
	"github.com/sluice-bench/sluice/scenario/source"
)

// Formats of recorded HTTP requests. Of each the body is a row: the members of its JSON for a target that
// takes text, but for those that the target decides; else the whole. Requests without a body, and for a
// target that takes text those to no endpoint of an API that it speaks, are left out.
//
//	har     a browser's or a proxy's HTTP archive: {"log": {"entries": [{"request": …}, …]}}
//	vegeta  targets of vegeta, with "METHOD URL" in a line, its headers and @BODY-FILE below it, and an empty
//	        line behind; or {"method": …, "url": …, "body": BASE64} on each line
const (
	HAR    = "har"
	Vegeta = "vegeta"
)

// endpoints are those of the APIs of OpenAI and Anthropic by the ends of their paths.
var endpoints = map[string]string{
	"/chat/completions": "chat", "/completions": "completions", "/responses": "responses",
	"/embeddings": "embeddings", "/messages": "messages",
}

// Endpoint returns the endpoint that a path leads to; "": none.
func Endpoint(path string) string {
	last := path[max(strings.LastIndexByte(path, '/'), 0):]
	if last == "/completions" && strings.HasSuffix(path, "/chat/completions") {
		last = "/chat/completions"
	}
	if last == "/messages" && !strings.HasSuffix(path, "/v1/messages") {
		return "" // of another API
	}
	return endpoints[last]
}

// recorded reads the recorded requests of one file.
type recorded struct {
	*reader
	// of the first request that is sent
	path, query, method string

	taken int
	left  int    // requests that are left out …
	first string // … the first of them, and why
	// of an archive: when entries began, by their number, and the earliest, ns
	times    map[int]int64
	earliest int64
}

// recordedRequest is one recorded request.
type recordedRequest struct {
	method, url, kind string
	body              []byte
}

// take makes a row of a request, or leaves it out.
func (s *recorded) take(rec Record, q recordedRequest) error {
	at, err := url.Parse(q.url)
	switch {
	case err != nil || at.Path == "":
		return errors.New("it has no URL with a path") // which may hold secrets, so it is not shown
	case len(q.body) == 0:
		return s.leave(&rec, q, "has no body")
	case !s.whole && Endpoint(at.Path) == "":
		return s.leave(&rec, q, "is for no endpoint that takes text")
	case !s.whole && q.method != "" && !strings.EqualFold(q.method, http.MethodPost):
		return s.leave(&rec, q, "is no POST")
	case s.taken > 0 && s.path != at.Path:
		return fmt.Errorf("it goes to %s, and those before it to %s: a target has one path, so split the file",
			at.Path, s.path)
	case s.taken > 0 && s.query != at.RawQuery: // which may hold secrets
		return errors.New("its URL has another query than those before it: a target has one, so split the file")
	case s.taken > 0 && s.method != q.method:
		return fmt.Errorf("it is a %s, and those before it are each a %s: a target has one method, so split the file",
			q.method, s.method)
	}
	if err := s.room(); err != nil {
		return err
	}
	s.path, rec.Path, s.query, s.method = at.Path, at.Path, at.RawQuery, q.method
	if s.taken++; s.whole {
		rec.Body, rec.Type, rec.Path = q.body, q.kind, ""
		s.Records = append(s.Records, rec)
		return nil
	}
	c := jsonscan.Strict(q.body)
	start := len(s.fields.scratch)
	s.bodyMembers(&c, start)
	c.End()
	rec.Inputs = s.fields.take(start)
	if !c.OK() {
		return fmt.Errorf("its body: %w", c.Err())
	}
	s.Records = append(s.Records, rec)
	return nil
}

func (s *recorded) leave(rec *Record, q recordedRequest, why string) error {
	if s.left++; s.left == 1 {
		s.first = fmt.Sprintf("%s, which %s: %s", rec.Name(), why, q.shown())
	}
	return nil
}

// shown names a request without the user and the query of its URL, where recordings have secrets.
func (q *recordedRequest) shown() string {
	at, err := url.Parse(q.url)
	if err != nil {
		return q.method
	}
	return fmt.Sprintf("%s %.80s", q.method, (&url.URL{Scheme: at.Scheme, Host: at.Host, Path: at.Path}).String())
}

// end says what was left out, once all is read.
func (s *recorded) end() error {
	switch {
	case s.taken+s.left == 0:
		return errors.New("there are no requests in this file")
	case s.taken == 0:
		return fmt.Errorf("no request can be sent: %s", s.first)
	case s.left > 0:
		s.Diags = append(s.Diags, source.Warnf(codeFile, "%s: requests that are left out: %d, first %s",
			s.from.Name, s.left, s.first).At("", s.from.Pos, 0))
	}
	return nil
}

func (r *reader) readHAR(data []byte) error {
	r.from.Unit, r.from.TimeUnit = "entry", msec
	s := recorded{reader: r}
	c := jsonscan.Strict(data)
	if !c.Find("log.entries") || c.Peek() != '[' {
		if err := c.Mistake(); err != nil {
			return err
		}
		return errors.New(`there are no requests in this file: an HTTP archive is {"log": {"entries": [entry, …]}}`)
	}
	number, first := 0, len(r.Records)
	for c.Enter('['); c.More(']'); number++ {
		s.entry(&c, number)
	}
	if err := c.Mistake(); err != nil {
		return err
	}
	s.order(r.Records[first:])
	return s.end()
}

// order sets the times of the rows of an archive, since its earliest entry, and orders them: an archive may
// hold its entries in any order (HAR 1.2, "entries").
func (s *recorded) order(rows []Record) {
	slices.SortStableFunc(rows, func(a, b Record) int { return cmp.Compare(s.times[a.Number], s.times[b.Number]) })
	for i := range rows {
		if at, ok := s.times[rows[i].Number]; ok {
			rows[i].Timestamp = strconv.AppendFloat(nil, float64(at-s.earliest)/float64(time.Millisecond), 'f', -1, 64)
		}
	}
}

// entry reads an entry of an HTTP archive.
func (s *recorded) entry(c *jsonscan.Scanner, number int) {
	rec := Record{From: s.from, Stream: -1, Number: number}
	var q recordedRequest
	for c.Enter('{'); c.More('}'); {
		switch string(c.Key()) {
		case "startedDateTime":
			at, err := time.Parse(time.RFC3339Nano, string(c.Text()))
			if err != nil && c.OK() {
				c.Fail("startedDateTime must be a time such as 2025-01-31T10:00:00.000Z")
			}
			if s.times == nil {
				s.times, s.earliest = map[int]int64{}, at.UnixNano()
			}
			s.times[number], s.earliest = at.UnixNano(), min(s.earliest, at.UnixNano())
		case "request":
			q = harRequest(c)
		default:
			c.Skip()
		}
	}
	if c.OK() {
		if err := s.take(rec, q); err != nil {
			c.Fail("%s", err)
		}
	}
}

// harRequest reads the request of an entry.
func harRequest(c *jsonscan.Scanner) (q recordedRequest) {
	for c.Enter('{'); c.More('}'); {
		switch string(c.Key()) {
		case "method":
			q.method = string(c.Text())
		case "url":
			q.url = string(c.Text())
		case "postData":
			for c.Enter('{'); c.More('}'); {
				switch string(c.Key()) {
				case "mimeType":
					q.kind = string(c.Text())
				case "text":
					q.body = slices.Clone(c.Text())
				default:
					c.Skip()
				}
			}
		default:
			c.Skip()
		}
	}
	return q
}

func (r *reader) readVegeta(data []byte) error {
	s := recorded{reader: r}
	var err error
	if text := bytes.TrimSpace(data); len(text) > 0 && text[0] == '{' {
		err = r.eachLine(data, s.vegetaRow)
	} else {
		err = s.vegetaText(data)
	}
	if err != nil {
		return err
	}
	return s.end()
}

// vegetaRow reads a target in JSON.
func (s *recorded) vegetaRow(c *jsonscan.Scanner, number int) {
	q := recordedRequest{kind: mediaJSON}
	for c.Enter('{'); c.More('}'); {
		switch string(c.Key()) {
		case "method":
			q.method = string(c.Text())
		case "url":
			q.url = string(c.Text())
		case "body":
			var err error
			if q.body, err = base64.StdEncoding.DecodeString(string(c.Text())); err != nil && c.OK() {
				c.Fail("body must be base64")
			}
		default:
			c.Skip()
		}
	}
	if c.OK() {
		if err := s.take(Record{From: s.from, Stream: -1, Number: number}, q); err != nil {
			c.Fail("%s", err)
		}
	}
}

// vegetaText reads targets in lines.
func (s *recorded) vegetaText(data []byte) error {
	s.from.Unit = "line"
	var q recordedRequest
	at, number := 0, 0 // lines: of the request, and of the text
	flush := func() error {
		if q.url == "" {
			return nil
		}
		err := s.take(Record{From: s.from, Stream: -1, Number: at}, q)
		q = recordedRequest{}
		return err
	}
	for line := range strings.SplitSeq(string(data), "\n") {
		number++
		line = strings.TrimSpace(line)
		var err error
		method, target, two := strings.Cut(line, " ")
		name, _, header := strings.Cut(line, ":")
		switch {
		case line == "":
			err = flush()
		case line[0] == '#':
		case line[0] == '@' && q.url != "":
			if q.body, err = s.beside(s.from, strings.TrimSpace(line[1:])); err == nil {
				q.kind = MediaType(line)
			}
		case two && method == strings.ToUpper(method) && !strings.HasSuffix(method, ":") && strings.Contains(target, "/"):
			if err = flush(); err == nil {
				q, at = recordedRequest{method: method, url: strings.TrimSpace(target)}, number
			}
		case q.url != "" && header && !strings.Contains(name, " "): // the target has the headers
		default:
			err = errors.New("a target is METHOD URL, with its headers and @BODY-FILE in the lines below")
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
	}
	if err := flush(); err != nil {
		return fmt.Errorf("line %d: %w", at, err)
	}
	return nil
}
