package observe

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/tlsconf"
)

// ClientFor returns an HTTP client for an endpoint; o configures TLS. It returns an error for a URL
// that is not http or https.
func ClientFor(endpoint string, o *backends.TLSOptions) (*http.Client, error) {
	u, err := url.Parse(endpoint)
	if err != nil {
		return nil, err
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("%s is no http:// or https:// URL", endpoint)
	}
	t := &http.Transport{Proxy: http.ProxyFromEnvironment, MaxIdleConns: 1}
	if u.Scheme == "https" {
		host, _, _ := strings.Cut(u.Hostname(), "%") // certificates contain no IPv6 zone
		if t.TLSClientConfig, err = tlsconf.New(o, host); err != nil {
			return nil, err
		}
	}
	return &http.Client{Transport: t}, nil
}
