package endpoint

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	all := strings.Fields("http https http+unix grpc grpcs grpc+unix")
	for _, c := range []struct {
		url  string
		want Endpoint
		err  string
	}{
		{"http://h:8000", Endpoint{Network: "tcp", Address: "h:8000", Host: "h", Authority: "h:8000"}, ""},
		{
			"http://h/triton/",
			Endpoint{Network: "tcp", Address: "h:80", Host: "h", Authority: "h", Prefix: "/triton"},
			"",
		},
		{
			"https://h/a%20b",
			Endpoint{Secure: true, Network: "tcp", Address: "h:443", Host: "h", Authority: "h", Prefix: "/a%20b"},
			"",
		},
		{
			"http://[::1]:8000",
			Endpoint{Network: "tcp", Address: "[::1]:8000", Host: "::1", Authority: "[::1]:8000"},
			"",
		},
		{
			"http://[fe80::1%25lo]:8000/p",
			Endpoint{
				Network: "tcp", Address: "[fe80::1%lo]:8000", Host: "fe80::1", Authority: "[fe80::1]:8000", Prefix: "/p",
			},
			"",
		},
		{
			"grpcs://[fe80::1%25eth0]",
			Endpoint{
				GRPC: true, Secure: true, Network: "tcp", Address: "[fe80::1%eth0]:443", Host: "fe80::1",
				Authority: "[fe80::1]",
			},
			"",
		},
		{
			"http+unix:///run/s",
			Endpoint{Network: "unix", Address: "/run/s", Host: "localhost", Authority: "localhost"},
			"",
		},
		{
			"grpc://h:8001",
			Endpoint{GRPC: true, Network: "tcp", Address: "h:8001", Host: "h", Authority: "h:8001"},
			"",
		},
		{
			"grpcs://h",
			Endpoint{GRPC: true, Secure: true, Network: "tcp", Address: "h:443", Host: "h", Authority: "h"},
			"",
		},
		{
			"grpc+unix:///run/s",
			Endpoint{GRPC: true, Network: "unix", Address: "/run/s", Host: "localhost", Authority: "localhost"},
			"",
		},
		{"ftp://h", Endpoint{}, `scheme "ftp"`},
		{"localhost:8000", Endpoint{}, `scheme "localhost"`},
		{"http:///v2", Endpoint{}, "no host"},
		{"http://u:secret@h", Endpoint{}, "Authorization"},
		{"http://h/?a=1", Endpoint{}, "http://h/: the URL has a query or a fragment: keys belong into `headers`"},
		{"grpc://h:1/p", Endpoint{}, "gRPC has no URL path"},
		{"http+unix://host/s", Endpoint{}, "path/to/socket"},
		{"grpc+unix://", Endpoint{}, "path/to/socket"},
		{"http://u:secret@h:\x00", Endpoint{}, "cannot be parsed"},
	} {
		got, err := parse(c.url, all)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%s: error %v, want %q", c.url, err, c.err)
			}
			continue
		}
		c.want.Scheme, _, _ = strings.Cut(c.url, "://")
		if diff := cmp.Diff(c.want, *got, cmp.AllowUnexported(Endpoint{})); err != nil || diff != "" {
			t.Errorf("%s: %v %s", c.url, err, diff)
		}
	}
}
