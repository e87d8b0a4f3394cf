// Package http is the backend of any HTTP endpoint: bodies are sent unchanged, and the status
// decides about success. It only declares keys and abilities so far, so that plans can be checked
// and drawn.
//
// It is not: a transport (wire/http1), a crawler, a client that follows redirects.
package http

import (
	"fmt"
	"strings"

	"github.com/sluice-bench/sluice/backends"
)

// Kind returns the backend "http".
func Kind() backends.Kind {
	return backends.Kind{
		Name:    "http",
		Help:    "any HTTP endpoint: bodies as they are",
		Schemes: []string{"http", "https", "http+unix"},
		Keys: []string{
			"method", "path", "headers", "compression", "tls", "timeout", "connect_timeout",
			"inactivity_timeout", "connections", "streaming",
		},
		Abilities: func(t backends.Target) backends.Ability {
			a := backends.Unary | backends.Bodies | backends.Expects
			if t.Streaming {
				a |= backends.Stream
			}
			return a
		},
		Check: check,
	}
}

// check requires an HTTP method of letters, as all registered ones are.
func check(t backends.Target) error {
	if strings.Trim(t.Method, "ABCDEFGHIJKLMNOPQRSTUVWXYZ-") != "" {
		return fmt.Errorf("method %q is not an HTTP method, such as POST", t.Method)
	}
	return nil
}
