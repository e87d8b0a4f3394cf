package kserve_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/sluice-bench/sluice/backends"
)

// TestUnknownModelOverGRPC: the wait for a model that the server does not know ends at once, whatever code the server has
// for it, in its own words. A model that is in the server's index may still become ready.
func TestUnknownModelOverGRPC(t *testing.T) {
	const index = "\x0a\x11\x0a\x05ident\x12\x011\x1a\x05READY" // name 1, version 2, state 3
	for name, c := range map[string]struct {
		code  codes.Code
		words string
		index string
		known string // ident: it is listed; "none": the model is not known to be unknown
	}{
		"MLServer": {
			codes.Unknown, "Unexpected <class 'mlserver.errors.ModelNotFound'>: Model nosuch with version  not found", index, "ident",
		},
		"KServe":           {codes.NotFound, "Model with name nosuch does not exist.", "", ""},
		"Triton":           {codes.NotFound, "Request for unknown model: 'nosuch' is not found", index, "ident"},
		"Triton, older":    {codes.Unavailable, "Request for unknown model: 'nosuch' is not found", index, "ident"},
		"another failure":  {codes.Unknown, "Exception calling application: boom", "", "none"},
		"it is not up yet": {codes.Unavailable, "starting", "", "none"},
	} {
		t.Run(name, func(t *testing.T) {
			s := plain(func(ctx context.Context) (string, error) {
				switch method, _ := grpc.Method(ctx); {
				case strings.HasSuffix(method, "/ServerLive"), strings.HasSuffix(method, "/ServerReady"):
					return "\x08\x01", nil
				case strings.HasSuffix(method, "/RepositoryIndex") && c.index != "":
					return c.index, nil
				case strings.HasSuffix(method, "/RepositoryIndex"):
					return "", status.Error(codes.Unimplemented, "Method not found!")
				}
				return "", status.Error(c.code, c.words)
			})(t)
			conn := openSite(t, backends.Target{URL: s.URL, Model: "nosuch"})
			err := conn.(backends.Prober).Ready(t.Context(), "nosuch")
			var unknown *backends.UnknownModelError
			switch is := errors.As(err, &unknown); {
			case err == nil || !strings.Contains(err.Error(), c.words):
				t.Errorf("%v has not the server's words", err)
			case is != (c.known != "none"), is && strings.Join(unknown.Known, " ") != c.known:
				t.Errorf("%v, %+v", err, unknown)
			}
		})
	}
}
