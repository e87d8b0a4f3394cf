package backendtest

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// pendingRequest is the request being answered.
type pendingRequest struct {
	id     []byte // its own id; nil: none
	stream uint32
	left   []handler // fallbacks of "good", the next one first
}

// handlers returns the handlers for a path that apply to this request, the one that counts first.
func (r *Raw) handlers(path string) (list []handler) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen[path]++
	for i := len(r.script.handlers) - 1; i >= 0; i-- {
		h := r.script.handlers[i]
		if strings.HasSuffix(path, "/"+h.name) && r.seen[path] >= h.from {
			list = append(list, h)
		}
	}
	slices.SortStableFunc(list, func(a, b handler) int { return b.from - a.from })
	return list
}

// handle answers a request. goes reports whether the connection continues, found whether there is a
// handler.
func (p *connPlayer) handle(path string, a pendingRequest) (goes, found bool) {
	list := p.r.handlers(path)
	if len(list) == 0 {
		return true, false
	}
	outer := p.request
	p.request = a
	p.request.left = list
	goes = p.good()
	p.request = outer
	return goes, true
}

// good plays the next fallback.
func (p *connPlayer) good() bool {
	if len(p.request.left) == 0 {
		return true
	}
	h := p.request.left[0]
	p.request.left = p.request.left[1:]
	for _, c := range h.commands {
		if !p.do(c) {
			return false
		}
	}
	return true
}

// ids finds the id of an inference request: in JSON, and as field 3 of a message.
var ids = regexp.MustCompile(`"id":"(\d{20})"|\x1a\x14(\d{20})`)

func idOf(body []byte, gzipped bool) []byte {
	if gzipped {
		if z, err := gzip.NewReader(bytes.NewReader(body)); err == nil {
			body, _ = io.ReadAll(io.LimitReader(z, maxFlat))
		}
	}
	if m := ids.FindSubmatch(body); m != nil {
		return append(m[1], m[2]...)
	}
	return nil
}

// fill replaces the placeholder of the request's id.
func (p *connPlayer) fill(b []byte) []byte {
	if p.request.id == nil || !bytes.Contains(b, []byte(requestID)) {
		return b
	}
	return bytes.ReplaceAll(b, []byte(requestID), p.request.id)
}

// Loopback returns a listen address for a server of a test that ends before its clients: any free
// port of a loopback address that is used only once, if the system routes all of 127.0.0.0/8. On
// 127.0.0.1 the port of an ended server is soon another test's, which answers those clients, and
// counts them.
func Loopback() string {
	if runtime.GOOS != "linux" {
		return "127.0.0.1:0"
	}
	n := rand.Uint32()
	return fmt.Sprintf("127.%d.%d.%d:0", 64+n%64, n>>8&0xff, 1+n>>16%250)
}
