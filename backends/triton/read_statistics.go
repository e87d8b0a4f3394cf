package triton

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/kserve"
)

// Stats implements backends.Observer: the sums over the versions of a model, or one version if it
// or the target names one. Only that model's endpoint is asked; the one for all models is not
// served everywhere. at is the middle of the call.
func (c *conn) Stats(ctx context.Context, model, version string, into []int64) (at int64, err error) {
	if version == "" && (model == "" || model == c.target.Model) {
		model, version = c.target.Model, c.target.ModelVersion
	}
	if model == "" {
		return 0, errors.New("statistics: no model is named")
	}
	start := c.clock.Now()
	list, err := c.statistics(ctx, model, version)
	at = start + (c.clock.Now()-start)/2
	if err != nil {
		return at, fmt.Errorf("statistics of %s: %w", model, err)
	}
	if err := sum(list, model, version, into); err != nil {
		return at, fmt.Errorf("statistics of %s: %w", model, err)
	}
	return at, nil
}

// sum adds up the entries of a model, or of one version of it.
func sum(list []statistics, model, version string, into []int64) error {
	if want := len(Series()); len(into) != want {
		return fmt.Errorf("%d places for %d series", len(into), want)
	}
	clear(into)
	found := false
	var one []int64
	for i := range list {
		if list[i].Name != model || version != "" && list[i].Version != version {
			continue
		}
		found = true
		one = list[i].values(one[:0])
		for k, v := range one {
			into[k] += v
		}
	}
	if !found {
		return errors.New("the server's reply does not contain it")
	}
	return nil
}

// ReadStatistics parses Triton's JSON of statistics: the values of Series for a model, or one
// version of it ("": all).
func ReadStatistics(text []byte, model, version string, into []int64) error {
	var reply statisticsReply
	if err := json.Unmarshal(text, &reply); err != nil {
		return fmt.Errorf("reply %.*q: %w", backends.NoteSize, text, err)
	}
	return sum(reply.Models, model, version, into)
}

func (h overHTTP) statistics(ctx context.Context, model, version string) ([]statistics, error) {
	var reply statisticsReply
	err := h.Read(ctx, kserve.ModelPath(model, version)+"/stats", &reply)
	return reply.Models, err
}

func (g overGRPC) statistics(ctx context.Context, model, version string) ([]statistics, error) {
	var reply statisticsReply
	err := g.Read(ctx, "ModelStatistics", kserve.ModelRequest(model, version), &reply)
	return reply.Models, err
}
