package kserve

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseURL(t *testing.T) {
	for _, c := range []struct {
		url  string
		want endpoint
		err  string
	}{
		{"http://h:8000", endpoint{network: "tcp", address: "h:8000", host: "h", authority: "h:8000"}, ""},
		{
			"http://h/triton/",
			endpoint{network: "tcp", address: "h:80", host: "h", authority: "h", prefix: "/triton"},
			"",
		},
		{
			"https://h/a%20b",
			endpoint{secure: true, network: "tcp", address: "h:443", host: "h", authority: "h", prefix: "/a%20b"},
			"",
		},
		{
			"http://[::1]:8000",
			endpoint{network: "tcp", address: "[::1]:8000", host: "::1", authority: "[::1]:8000"},
			"",
		},
		{
			"http://[fe80::1%25lo]:8000/p",
			endpoint{
				network: "tcp", address: "[fe80::1%lo]:8000", host: "fe80::1", authority: "[fe80::1]:8000", prefix: "/p",
			},
			"",
		},
		{
			"grpcs://[fe80::1%25eth0]",
			endpoint{
				grpc: true, secure: true, network: "tcp", address: "[fe80::1%eth0]:443", host: "fe80::1",
				authority: "[fe80::1]",
			},
			"",
		},
		{
			"http+unix:///run/s",
			endpoint{network: "unix", address: "/run/s", host: "localhost", authority: "localhost"},
			"",
		},
		{
			"grpc://h:8001",
			endpoint{grpc: true, network: "tcp", address: "h:8001", host: "h", authority: "h:8001"},
			"",
		},
		{
			"grpcs://h",
			endpoint{grpc: true, secure: true, network: "tcp", address: "h:443", host: "h", authority: "h"},
			"",
		},
		{
			"grpc+unix:///run/s",
			endpoint{grpc: true, network: "unix", address: "/run/s", host: "localhost", authority: "localhost"},
			"",
		},
		{"ftp://h", endpoint{}, `scheme "ftp"`},
		{"localhost:8000", endpoint{}, `scheme "localhost"`},
		{"http:///v2", endpoint{}, "no host"},
		{"http://u:secret@h", endpoint{}, "Authorization"},
		{"http://h/?a=1", endpoint{}, "query"},
		{"grpc://h:1/p", endpoint{}, "gRPC has no URL path"},
		{"http+unix://host/s", endpoint{}, "path/to/socket"},
		{"grpc+unix://", endpoint{}, "path/to/socket"},
		{"http://u:secret@h:\x00", endpoint{}, "cannot be parsed"},
	} {
		got, err := parseURL(c.url)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%s: error %v, want %q", c.url, err, c.err)
			}
			continue
		}
		if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(endpoint{})); err != nil || diff != "" {
			t.Errorf("%s: %v %s", c.url, err, diff)
		}
	}
}
