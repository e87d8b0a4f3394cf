package scenario

import "testing"

// A target without a URL is reached over nothing.
func TestTransport(t *testing.T) {
	for url, want := range map[string]string{
		"http://h": "http", "https://h": "http", "http+unix:///s": "http", "builtin://http": "http",
		"grpc://h": "grpc", "grpcs://h": "grpc",
		"grpc+unix:///s": "grpc", "builtin://grpc": "grpc", "": "",
	} {
		if got := (&Target{URL: url}).Transport(); got != want {
			t.Errorf("%q: %q, want %q", url, got, want)
		}
	}
}
