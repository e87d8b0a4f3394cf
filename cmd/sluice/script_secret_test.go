package main

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/rogpeppe/go-internal/testscript"
)

// echo: puts a server before the one that the script has started, its address in ECHO_URL. Every
// second inference fails, and the server repeats the request in its error: with a bearer token
// that comes as "Bearer TOKEN" all at once, with one that comes in X-Token in one form after the
// other. A path that ends with /denied is answered in the same way. The first part of a path is cut
// off before a request goes on.
func echo(ts *testscript.TestScript, _ bool, _ []string) {
	behind, err := url.Parse(ts.Getenv("HTTP_URL"))
	ts.Check(err)
	proxy := httputil.NewSingleHostReverseProxy(behind)
	var n atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		denied := strings.HasSuffix(r.URL.Path, "/denied")
		if k := n.Add(1); denied || strings.HasSuffix(r.URL.Path, "/infer") && k%2 == 0 {
			body, _ := io.ReadAll(r.Body)
			w.WriteHeader(http.StatusForbidden)
			text := told(r, body)
			if token := r.Header.Get("X-Token"); token != "" {
				all := echoes(token)
				text = "denied " + all[int(k/2)%len(all)]
			}
			_ = json.NewEncoder(w).Encode(map[string]string{"error": text})
			return
		}
		if _, rest, found := strings.Cut(r.URL.Path[1:], "/v2"); found {
			r.URL.Path, r.URL.RawPath = "/v2"+rest, ""
		}
		proxy.ServeHTTP(w, r)
	}))
	ts.Defer(s.Close)
	ts.Setenv("ECHO_URL", s.URL)
}

// told is what a request holds, in one of several encodings by turns of its length: an example is
// cut after 256 bytes.
func told(r *http.Request, body []byte) string {
	header := r.Header.Get("Authorization")
	return fmt.Sprintf("%s %s %s %s %x %s", header, url.QueryEscape(header),
		base64.StdEncoding.EncodeToString([]byte("x:"+header)), r.URL, header, body)
}

// echoes are the forms in which programs repeat a text: as it is, quoted, quoted twice, and encoded.
func echoes(text string) (all []string) {
	quotings := []func(string) string{
		func(s string) string { return s },
		func(s string) string { b, _ := json.Marshal(s); return string(b[1 : len(b)-1]) },
		func(s string) string {
			var b bytes.Buffer
			e := json.NewEncoder(&b)
			e.SetEscapeHTML(false)
			_ = e.Encode(s)
			return strings.TrimSuffix(b.String()[1:], "\"\n")
		},
		func(s string) string { q := strconv.Quote(s); return q[1 : len(q)-1] },
		url.QueryEscape, url.PathEscape, html.EscapeString,
		strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#x27;").Replace,
		func(s string) string { return strings.ReplaceAll(s, `"`, `""`) },
	}
	for _, outer := range quotings {
		for _, inner := range quotings {
			all = append(all, outer(inner(text)))
		}
	}
	for before := range 3 {
		padded := strings.Repeat("u", before) + text
		all = append(all, base64.StdEncoding.EncodeToString([]byte(padded)),
			base64.URLEncoding.EncodeToString([]byte(padded)))
	}
	all = append(all, hex.EncodeToString([]byte(text)), strings.ToUpper(hex.EncodeToString([]byte(text))))
	slices.Sort(all)
	return slices.Compact(all)
}

// hides SECRET FILE…: none of the files, those below folders included, and streams holds the text
// in any form of echoes. The middle of base64 counts as the whole: the rest depends on what is
// beside it.
func hides(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: hides SECRET FILE…")
	}
	forms := echoes(args[0])
	for _, form := range forms[:len(forms):len(forms)] {
		if decoded, err := base64.StdEncoding.DecodeString(form); err == nil &&
			strings.Contains(string(decoded), args[0]) {
			forms = append(forms, form[4:len(form)-4])
		}
	}
	read(ts, args[1:], func(name, text string) {
		for _, form := range forms {
			if strings.Contains(text, form) {
				ts.Fatalf("%s holds %s", name, form)
			}
		}
	})
}

// read gives the streams and the files, those below folders included.
func read(ts *testscript.TestScript, names []string, each func(name, text string)) {
	for _, name := range names {
		if name == "stdout" || name == "stderr" {
			each(name, ts.ReadFile(name))
			continue
		}
		ts.Check(filepath.WalkDir(ts.MkAbs(name), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := os.ReadFile(path)
			each(path, path+string(data))
			return err
		}))
	}
}

// holds TEXT FILE…: some of the files, those below folders included, or a stream holds the text. "!
// holds": none does.
func holds(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: holds TEXT FILE…")
	}
	var found []string
	files := 0
	read(ts, args[1:], func(name, text string) {
		files++
		if strings.Contains(text, args[0]) {
			found = append(found, name)
		}
	})
	if files == 0 || (len(found) > 0) == neg {
		ts.Fatalf("%d files, these hold the text: %v", files, found)
	}
}
