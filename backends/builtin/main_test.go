package builtin

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// childRole makes this test binary play another process: "serve" is a child, "parent" spawns one,
// prints its URLs and waits to be killed.
const childRole = "SLUICE_BUILTIN_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(childRole) {
	case "serve":
		if err := Main(context.Background(), os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	case "parent":
		playParent()
	case "mute":
		fmt.Fprintln(os.Stderr, "nothing to serve")
		os.Exit(3)
	}
	goleak.VerifyTestMain(m)
}

// deadline is generous: it only decides tests that would hang.
const deadline = 30 * time.Second

func start(t testing.TB, c Config) *Server {
	t.Helper()
	s, err := Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// client is a plain HTTP client whose connections end with the test.
func client(t testing.TB) *http.Client {
	tr := &http.Transport{MaxIdleConnsPerHost: 64}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr, Timeout: deadline}
}

type answer struct {
	status int
	header http.Header
	body   []byte
}

func request(
	t testing.TB, c *http.Client, method, url string, header http.Header, body []byte,
) (answer, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range header {
		r.Header[k] = v
	}
	resp, err := c.Do(r)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, resp.Header, b}, err
}

func get(t testing.TB, url string) answer {
	t.Helper()
	a, err := request(t, client(t), http.MethodGet, url, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func post(t testing.TB, url, body string) answer {
	t.Helper()
	a, err := request(t, client(t), http.MethodPost, url, nil, []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func decode[T any](t testing.TB, data []byte) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatalf("%v in %s", err, data)
	}
	return v
}

// eventually polls until ok holds.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(deadline); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}
