package triton

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/kserve"
)

// Stats implements backends.Observer. Only that model's endpoint is asked; the one for all models is
// not served everywhere.
func (c *conn) Stats(ctx context.Context, model, version string, into []int64) (at int64, err error) {
	read := func(model, version string) ([]Statistics, error) { return c.statistics(ctx, model, version) }
	return Observe(&c.target, c.clock, model, version, into, read)
}

// Observe reads the sums over the versions of a model, or one version if it or the target names one,
// from what read returns. at is the middle of the call.
func Observe(
	t *backends.Target, clock backends.Clock, model, version string, into []int64,
	read func(model, version string) ([]Statistics, error),
) (at int64, err error) {
	if version == "" {
		model, version, err = kserve.ModelOf(t, model)
	}
	if err != nil {
		return 0, fmt.Errorf("statistics: %w", err)
	}
	start := clock.Now()
	list, err := read(model, version)
	at = start + (clock.Now()-start)/2
	if err == nil {
		err = sum(list, model, version, into)
	}
	if err != nil {
		err = fmt.Errorf("statistics of %s: %w", model, err)
	}
	return at, err
}

// sum adds up the entries of a model, or of one version of it.
func sum(list []Statistics, model, version string, into []int64) error {
	if want := len(Series()); len(into) != want {
		return fmt.Errorf("%d places for %d series", len(into), want)
	}
	clear(into)
	found := false
	for i := range list {
		if list[i].Name != model || version != "" && list[i].Version != version {
			continue
		}
		found = true
		for k, v := range list[i].values() {
			into[k] += v
		}
	}
	if !found {
		return errors.New("the server's reply does not contain it")
	}
	return nil
}

// ParseStatistics parses Triton's JSON of statistics.
func ParseStatistics(text []byte) ([]Statistics, error) {
	var reply statisticsReply
	if err := json.Unmarshal(text, &reply); err != nil {
		return nil, fmt.Errorf("reply %.*q: %w", backends.NoteSize, text, err)
	}
	return reply.Models, nil
}

func (h overHTTP) statistics(ctx context.Context, model, version string) ([]Statistics, error) {
	var reply statisticsReply
	err := h.Read(ctx, kserve.ModelPath(model, version)+"/stats", &reply)
	return reply.Models, err
}

func (g overGRPC) statistics(ctx context.Context, model, version string) ([]Statistics, error) {
	var reply statisticsReply
	err := g.Read(ctx, "ModelStatistics", kserve.ModelRequest(model, version), &reply)
	return reply.Models, err
}
