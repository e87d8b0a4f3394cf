package trial

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/source"
)

// cancelGrace bounds what must still be asked of a server, or undone there, once the run was cut
// off by a second signal.
const cancelGrace = 2 * time.Second

// WithGrace returns a context for what has to be asked although ctx may be done. It ends after
// limit, or cancelGrace after ctx.
func WithGrace(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	asked, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	kept := context.AfterFunc(ctx, func() {
		t := time.NewTimer(cancelGrace)
		defer t.Stop()
		select {
		case <-t.C:
			cancel()
		case <-asked.Done():
		}
	})
	return asked, func() {
		kept()
		cancel()
	}
}

// About says which target an error is about, and what to do where that is known.
func About(t *scenario.Target, err error) error {
	if t.URL == "" { // it is in this process
		return fmt.Errorf("target %q: %w%s", t.Name, err, UnknownHint(err))
	}
	hint := cmp.Or(UnknownHint(err), connectHint(err, t.TLS))
	return fmt.Errorf("target %q (%s): %w%s", t.Name, t.URL, err, hint)
}

// mostKnown bounds the models of a server that are listed.
const mostKnown = 20

// UnknownHint lists what a server has in place of a model, or a version, that it does not know.
func UnknownHint(err error) string {
	var unknown *backends.UnknownModelError
	if !errors.As(err, &unknown) || len(unknown.Known) == 0 {
		return ""
	}
	text, wanted, what := "; ", unknown.Model, "it has "
	if unknown.Version != "" {
		wanted, what = unknown.Version, "it has version "
	}
	if near := source.Nearest(wanted, unknown.Known); near != "" {
		text, what = text+fmt.Sprintf("did you mean %q? ", near), "I"+what[1:]
	}
	known := unknown.Known
	if len(known) > mostKnown {
		known = append(slices.Clone(known[:mostKnown]),
			fmt.Sprintf("and %d more", len(unknown.Known)-mostKnown))
	}
	return text + what + strings.Join(known, ", ")
}

// connectHint says what to do where connections cannot be made: what to write into the plan when a
// server's certificate is not trusted, or the limit of this machine's that is too low. gRPC passes
// on only the text of certificates.
func connectHint(err error, o *scenario.TLS) string {
	text := err.Error()
	switch {
	case errors.Is(err, syscall.EMFILE):
		return "; each connection is an open file: raise `ulimit -n`; " +
			"over gRPC requests can share them with `connections: N`"
	case strings.Contains(text, "signed by unknown authority") && o != nil && o.CA != "":
		return "; the file of `tls.ca` does not hold the authority that signed the server's certificate"
	case strings.Contains(text, "signed by unknown authority"):
		return "; name the server's own authority with `tls: {ca: FILE}`"
	case strings.Contains(text, "x509: certificate is valid for"),
		strings.Contains(text, "x509: cannot validate certificate for"):
		return "; name the host that the certificate is for with `tls: {server_name: NAME}`"
	}
	return ""
}
