package builtin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// FuzzHTTPInfer: any body and length give an answer in the protocol's form, never a panic.
func FuzzHTTPInfer(f *testing.F) {
	f.Add("identity", "", []byte(oneFP32))
	f.Add("identity_bytes", "98",
		[]byte(`{"inputs":[{"name":"INPUT0","shape":[1,1],"datatype":"BYTES",`+
			`"parameters":{"binary_data_size":5}}]}`+"\x01\x00\x00\x00a"))
	f.Add("simple",
		"-1", []byte(`{"inputs":[{"name":"INPUT0","shape":[1,16],"datatype":"INT32","data":[[[1],[2]],[]]}]}`))
	f.Add("identity_bf16", "2", []byte(`{}`))
	s := newServer(Config{})
	f.Cleanup(s.closeAll)
	h := s.routes()
	f.Fuzz(func(t *testing.T, name, length string, body []byte) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v2/models/x/infer",
			bytes.NewReader(body))
		r.URL.Path = "/v2/models/" + strings.Trim(name, "/.") + "/infer"
		r.Header.Set(headerLength, length)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Header().Get("Content-Type") != "application/json" {
			return // binary outputs, or no such path
		}
		var v struct {
			Error   string           `json:"error"`
			Outputs *json.RawMessage `json:"outputs"`
		}
		if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil || (v.Error == "") == (w.Code != 200) ||
			(v.Outputs == nil) == (w.Code == 200) {
			t.Errorf("%d %v %s", w.Code, err, w.Body)
		}
	})
}

func BenchmarkHTTPInfer(b *testing.B) {
	s := start(b, Config{})
	h := s.routes()
	data := make([]byte, 64)
	for _, c := range []struct {
		name, model, body string
		header            http.Header
	}{
		{name: "json", body: oneFP32},
		{name: "binary"},
	} {
		b.Run(c.name, func(b *testing.B) {
			body, header := []byte(c.body), http.Header{}
			if c.body == "" {
				header, body = binaryRequest("",
					"FP32", []int64{1, 16}, data, `,"parameters":{"binary_data_output":true}`)
			}
			b.ReportAllocs()
			for b.Loop() {
				r := httptest.NewRequest(http.MethodPost, "/v2/models/identity/infer", bytes.NewReader(body))
				for k, v := range header {
					r.Header[k] = v
				}
				w := httptest.NewRecorder()
				h.ServeHTTP(w, r)
				if w.Code != 200 {
					b.Fatal(fmt.Sprint(w.Code, w.Body))
				}
			}
		})
	}
}
