package kserve

import (
	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/endpoint"
	"github.com/sluice-bench/sluice/backends/wire/http1"
)

// HTTP is a target over HTTP/1.1.
type HTTP struct {
	*endpoint.HTTP
	target backends.Target
	models modelReplies
}

func openHTTP(t backends.Target, e *endpoint.Endpoint, clock backends.Clock) *HTTP {
	c := &HTTP{target: t}
	c.HTTP = endpoint.OpenHTTP(t, e, clock, c.newWire)
	return c
}

func (c *HTTP) newWire() backends.Wire {
	judge := httpJudge{keep: c.target.KeepReplies}
	if c.usesGenerate() {
		return http1.New(&objectJudge{httpJudge: judge})
	}
	return http1.New(&judge)
}
