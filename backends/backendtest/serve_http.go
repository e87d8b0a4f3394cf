package backendtest

import (
	"fmt"
	"io"
	"net/http"
	"strings"
)

// serveHTTP answers HTTP/1.1 requests until the client goes. In addition to "send", handlers have
//
//	command = "reply" SP STATUS [ SP PAYLOAD ]  ; a whole reply, declared as JSON
//	        / "head" SP STATUS *FIELD           ; the head only, with these fields: "Name: value"
//	        / "chunk" SP PAYLOAD                ; one chunk of a body; an empty one ends it
func (p *connPlayer) serveHTTP() bool {
	for {
		r, err := http.ReadRequest(p.in)
		if err != nil {
			return false
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return false
		}
		goes, found := p.handle(r.URL.Path,
			pendingRequest{id: idOf(body, r.Header.Get("Content-Encoding") == "gzip")})
		if !found {
			goes = p.replyHTTP(http.StatusNotFound, nil)
		}
		if !goes {
			return false
		}
	}
}

func (p *connPlayer) replyHTTP(status int, body payload) bool {
	head := fmt.Sprintf("HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n",
		status, http.StatusText(status), body.size())
	return p.send(append(payload{{[]byte(head), 1}}, body...))
}

func (p *connPlayer) head(c command) bool {
	var b strings.Builder
	fmt.Fprintf(&b, "HTTP/1.1 %d %s\r\n", c.n, http.StatusText(c.n))
	for _, f := range c.frame.fields {
		fmt.Fprintf(&b, "%s: %s\r\n", f.Name, f.Value)
	}
	return p.send(payload{{[]byte(b.String() + "\r\n"), 1}})
}

func (p *connPlayer) chunk(body payload) bool {
	all := append(payload{{fmt.Appendf(nil, "%x\r\n", body.size()), 1}}, body...)
	return p.send(append(all, repeatedBytes{[]byte("\r\n"), 1}))
}
