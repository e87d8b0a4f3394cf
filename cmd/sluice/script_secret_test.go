package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/rogpeppe/go-internal/testscript"
)

// echo: puts a server before the one that the script has started, its address in ECHO_URL. Every second inference fails,
// and the server says in its error all that it was told: as it came, escaped for a URL and for JSON, in base64 and in hex.
// The first part of a path is cut off before a request goes on.
func echo(ts *testscript.TestScript, _ bool, _ []string) {
	behind, err := url.Parse(ts.Getenv("HTTP_URL"))
	ts.Check(err)
	proxy := httputil.NewSingleHostReverseProxy(behind)
	var n atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/infer") && n.Add(1)%2 == 0 {
			body, _ := io.ReadAll(r.Body)
			w.WriteHeader(http.StatusForbidden)
			_ = json.NewEncoder(w).Encode(map[string]string{"error": told(r, body)})
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

// told is what a request holds, in one of several encodings by turns of its length: an example is cut after 256 bytes.
func told(r *http.Request, body []byte) string {
	header := r.Header.Get("Authorization")
	return fmt.Sprintf("%s %s %s %s %x %s", header, url.QueryEscape(header), base64.StdEncoding.EncodeToString([]byte("x:"+header)), r.URL, header, body)
}

// holds TEXT FILE…: some of the files, those below folders included, or a stream holds the text. "! holds": none does.
func holds(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: holds TEXT FILE…")
	}
	var found []string
	files := 0
	look := func(name, text string) {
		files++
		if strings.Contains(text, args[0]) {
			found = append(found, name)
		}
	}
	for _, name := range args[1:] {
		if name == "stdout" || name == "stderr" {
			look(name, ts.ReadFile(name))
			continue
		}
		ts.Check(filepath.WalkDir(ts.MkAbs(name), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := os.ReadFile(path)
			look(path, path+string(data))
			return err
		}))
	}
	if files == 0 || (len(found) > 0) == neg {
		ts.Fatalf("%d files, these hold the text: %v", files, found)
	}
}
