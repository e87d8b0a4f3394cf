package scenario

import (
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sluice-bench/sluice/scenario/language"
	"github.com/sluice-bench/sluice/scenario/source"
)

// schemes are the URL schemes of the language.
var schemes = [...]string{"http", "https", "grpc", "grpcs", "http+unix", "grpc+unix", "builtin"}

func checkTarget(c *checker, t *language.Target) {
	checkHeaders(c, t.Headers)
	if t.Management != nil {
		checkHeaders(c, t.Management.Headers)
	}
	checkTLS(c, t.TLS)
	checkBuiltin(c, t)
	checkServer(c, t)
	if t.URL == nil {
		return
	}
	if wrong := checkURL(t.URL.V); wrong != nil {
		c.at(t.URL.At, wrong)
		return
	}
	scheme, _, _ := strings.Cut(t.URL.V, "://")
	if t.Builtin != nil && scheme != "builtin" {
		c.under(t.At, "builtin", doesNotFit("\"builtin\" does not fit %s://", scheme).
			Help("it configures the embedded server; remove it, or use builtin://http or builtin://grpc"))
	}
	if overGRPC(t.URL.V) {
		checkTensors(c, t.Tensors)
	}
	if t.TLS != nil && scheme != "https" && scheme != "grpcs" {
		c.warn(
			t.At, "tls", source.CodeTLSUnused,
			fmt.Sprintf("\"tls\" has no effect with %s://", scheme),
			"use https:// or grpcs:// for a secure connection",
		)
	}
}

// checkServer checks what is special to some kinds of server.
func checkServer(c *checker, t *language.Target) {
	inside := t.Backend.Or("") == "triton_inprocess"
	if inside && !c.Doubtful(t.At.Path) && c.Absent(t.At, "inprocess") {
		c.at(t.At,
			missing("backend triton_inprocess needs `inprocess` with the models' `repository`"))
	} else if inside && t.InProcess != nil && c.Absent(t.InProcess.At, "repository") {
		c.at(t.InProcess.At, missing("inprocess needs the models' `repository`"))
	}
	if inside && t.URL != nil {
		c.under(t.At, "url", doesNotFit("\"url\" does not fit triton_inprocess").
			Help("its server is loaded into the client"))
	}
	checkMetricsURL(c, t)
}

// checkMetricsURL wants a URL of HTTP, or a path on a host that is reached over HTTP.
func checkMetricsURL(c *checker, t *language.Target) {
	if t.Metrics == nil {
		return
	}
	for i, address := range t.Metrics.URL.All() {
		checkMetricsAddress(c, t, address)
		if slices.ContainsFunc(t.Metrics.URL.All()[:i], func(o *language.Val[string]) bool { return o.V == address.V }) {
			c.at(address.At, source.Errorf(source.CodeURL, "duplicate address %q", address.V))
		}
	}
}

func checkMetricsAddress(c *checker, t *language.Target, address *language.Val[string]) {
	at, text := address.At, address.V
	u, err := url.Parse(text)
	switch target := t.URL.Or(""); {
	case err == nil && u.User != nil:
		c.at(at, source.Errorf(source.CodeURL, "a URL must not hold a user or a password").
			Help("it is in every result: give an address of the metrics that needs none"))
	case strings.HasPrefix(text, "http://"), strings.HasPrefix(text, "https://"):
	case !strings.HasPrefix(text, "/"):
		c.at(at, source.Errorf(source.CodeURL, "metrics are read over HTTP, not from %q", text).
			Among("", []string{"http://", "https://", "/PATH of the target's host"}))
	case !strings.HasPrefix(target, "http://") && !strings.HasPrefix(target, "https://") &&
		target != "builtin://http":
		c.at(
			at,
			source.Errorf(source.CodeURL, "%q is a path on the target's host, which is not reached over HTTP",
				text).Help("give a whole URL, such as http://localhost:8002/metrics"),
		)
	}
}

// needsModel reports whether requests to the target name a model.
func needsModel(t *language.Target) bool {
	kind := t.Backend.Or("")
	return kind != "grpc" && kind != "http"
}

// checkTensors refuses tensors as JSON: the protocol has raw bytes.
func checkTensors(c *checker, t *language.Tensors) {
	if t == nil {
		return
	}
	for _, form := range []*language.Val[string]{t.Input, t.Output} {
		if form != nil && form.V == "json" {
			c.at(form.At,
				doesNotFit("tensors as JSON do not fit gRPC").
					Help("over gRPC they are always raw bytes; remove `tensors`, or "+
						"use http://"))
		}
	}
}

func badURL(detail, format string, args ...any) *source.Diagnostic {
	return source.Errorf(source.CodeURL, format, args...).Help(detail)
}

// checkURL says what is wrong with the URL of a target.
func checkURL(text string) *source.Diagnostic {
	scheme, rest, found := strings.Cut(text, "://")
	if !found || !slices.Contains(schemes[:], scheme) {
		m := badURL("", "URL %q has no scheme", text)
		for _, s := range schemes {
			m.Allowed = append(m.Allowed, s+"://")
		}
		if found {
			m.Summary = fmt.Sprintf("URL scheme %q is not known", scheme)
			if near := source.Nearest(scheme, schemes[:]); near != "" {
				m.Nearest = near + "://"
			}
		} else if host, port, err := net.SplitHostPort(text); err == nil && host != "" && port != "" {
			m.Detail = fmt.Sprintf("write http://%s, or grpc://%[1]s for gRPC", text)
		}
		return m
	}
	switch {
	case strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return badURL("", "URL %q holds a space or a control character", text)
	case scheme == "builtin":
		if rest == "http" || rest == "grpc" {
			return nil
		}
		m := badURL("", "%q is no embedded server", text)
		m.Allowed = []string{"builtin://http", "builtin://grpc"}
		m.Nearest = source.Nearest(text, m.Allowed)
		return m
	case strings.HasSuffix(scheme, "+unix"):
		if len(rest) < 2 || rest[0] != '/' {
			return badURL(
				"write the absolute path of the socket: "+scheme+":///run/server.sock",
				"URL %q has no path of a socket", text,
			)
		}
		return nil
	}
	return checkHost(text, rest)
}

// checkHost checks what follows the scheme of a network URL: host, port, path prefix and nothing else.
func checkHost(text, rest string) *source.Diagnostic {
	u, err := url.Parse("http://" + rest)
	if err != nil || u.Hostname() == "" {
		return badURL(
			"write SCHEME://HOST:PORT, with a path if the server is below one",
			"URL %q has no host that can be read", text,
		)
	}
	switch {
	case u.User != nil:
		return badURL("send credentials in `headers`, from a secret variable",
			"a URL must not hold a user or a password")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		text = text[:strings.IndexAny(text, "?#")] // what follows may hold a key
		return badURL("leave out what follows the path; keys go into `headers`, from a secret variable",
			"URL %q has a query or a fragment", text)
	case strings.HasSuffix(u.Host, ":"):
		return badURL("", "URL %q has no port after the colon", text)
	}
	if p := u.Port(); p != "" {
		if n, err := strconv.Atoi(p); err != nil || n < 1 || n > 65535 {
			return badURL("", "port %s is not from 1 to 65535", p)
		}
	}
	return nil
}

// ownHeaders are set by the client; a plan that sets them would break its own requests.
var ownHeaders = []string{"content-length", "transfer-encoding", "connection"}

func checkHeaders(c *checker, h *language.Dict[language.Val[string]]) {
	seen := map[string]bool{}
	for _, e := range h.Items() {
		name := strings.ToLower(e.Key)
		wrong := func(detail, format string, args ...any) {
			c.under(h.At, e.Key, source.Errorf(source.CodeHeader, format, args...).Help(detail))
		}
		switch {
		case name == ":authority":
			wrong(
				"the header Host is the :authority over gRPC: headers: {Host: NAME}",
				"header name %q is not allowed", e.Key,
			)
		case !isToken(e.Key):
			wrong("a name is made of letters, digits and !#$%&'*+-.^_`|~",
				"header name %q is not allowed", e.Key)
		case slices.Contains(ownHeaders, name):
			wrong("", "header %q is set by the client", e.Key)
		case seen[name]:
			wrong("upper and lower case count as the same", "duplicate header %q", e.Key)
		}
		seen[name] = true
		if strings.ContainsFunc(e.Value.V, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
			wrong("", "the value of header %q holds a line break or another control character", e.Key)
		}
	}
}

// isToken reports whether s is a token of HTTP.
func isToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r >= 0x7f || r <= ' ' || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	})
}

func checkTLS(c *checker, t *language.TLS) {
	if t != nil && t.Verify.Or("") == "none" && t.CA != nil {
		c.warn(t.At, "ca", source.CodeTLSUnused, "\"ca\" has no effect with verify: none", "")
	}
}

func checkBuiltin(c *checker, t *language.Target) {
	b := t.Builtin
	if b == nil {
		return
	}
	checkGenerated(c, t)
	for _, d := range [...]*language.Dist[time.Duration, time.Duration]{b.ServiceTime, b.TTFT, b.ITL} {
		checkDist(c, d)
	}
	if s := b.Stall; s != nil {
		if s.For != nil && s.For.V == 0 {
			c.at(s.At, outOfRange("stall needs a time above 0s in `for`"))
		}
		if s.Every != nil && s.For != nil && s.Every.V != 0 && s.Every.V <= s.For.V {
			c.at(s.Every.At, outOfRange("every must be longer than for"))
		}
	}
}

// checkGenerated refuses keys of the embedded server that only language models have.
func checkGenerated(c *checker, t *language.Target) {
	if t.Backend.Or("") == "openai" {
		return
	}
	for _, e := range t.Builtin.At.Node.Entries {
		switch e.Key {
		case "ttft", "itl", "generation", "api_key":
			c.under(t.Builtin.At, e.Key, doesNotFit("%q does not fit backend: %s", e.Key, t.Backend.Or("")).
				Help("it configures the texts of the embedded server, which backend: openai asks for"))
		}
	}
}
