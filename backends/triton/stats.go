package triton

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/kserve"
	"github.com/sluice-bench/sluice/backends/wire/protow"
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
	list, err := c.read(ctx, model, version)
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
	list, err := parseJSON(text)
	if err != nil {
		return err
	}
	return sum(list, model, version, into)
}

func parseJSON(text []byte) ([]statistics, error) {
	var reply struct {
		Models []statistics `json:"model_stats"`
	}
	if err := json.Unmarshal(text, &reply); err != nil {
		return nil, fmt.Errorf("reply %.*q: %w", backends.NoteSize, text, err)
	}
	return reply.Models, nil
}

func readHTTP(ctx context.Context, k *kserve.HTTP, model, version string) ([]statistics, error) {
	body, err := k.Get(ctx, kserve.ModelPath(model, version)+"/stats")
	if err != nil {
		return nil, err
	}
	return parseJSON(body)
}

func readGRPC(ctx context.Context, k *kserve.GRPC, model, version string) ([]statistics, error) {
	reply, err := k.Invoke(ctx, "ModelStatistics", kserve.ModelRequest(model, version))
	if err != nil {
		return nil, err
	}
	return parse(reply)
}

// parse reads a ModelStatisticsResponse: model_stats 1, each with name 1, version 2, inference_count 4,
// execution_count 5, inference_stats 6.
func parse(reply []byte) (list []statistics, err error) {
	w := protow.Walk(reply)
	for w.Next() && err == nil {
		if !w.Is(1) {
			continue
		}
		var s statistics
		m := protow.Walk(w.Bytes)
		for m.Next() && err == nil {
			switch {
			case m.Is(1):
				s.Name = string(m.Bytes)
			case m.Is(2):
				s.Version = string(m.Bytes)
			case m.Field == 4:
				s.Inferences = int64(m.Varint)
			case m.Field == 5:
				s.Executions = int64(m.Varint)
			case m.Is(6):
				err = s.times(m.Bytes)
			}
		}
		err = errors.Join(err, m.Err())
		list = append(list, s)
	}
	return list, errors.Join(err, w.Err())
}

// times reads an InferStatistics: success 1, fail 2, queue 3, compute_input 4, compute_infer 5,
// compute_output 6, cache_hit 7, cache_miss 8; each with count 1 and ns 2.
func (s *statistics) times(b []byte) error {
	t := &s.Times
	fields := [...]*duration{
		1: &t.Success, &t.Fail, &t.Queue, &t.ComputeInput, &t.ComputeInfer, &t.ComputeOutput, &t.CacheHit,
		&t.CacheMiss,
	}
	w := protow.Walk(b)
	for w.Next() {
		if w.Field >= protow.Number(len(fields)) || !w.Is(w.Field) {
			continue
		}
		d := protow.Walk(w.Bytes)
		for d.Next() {
			switch d.Field {
			case 1:
				fields[w.Field].Count = int64(d.Varint)
			case 2:
				fields[w.Field].NS = int64(d.Varint)
			}
		}
		if err := d.Err(); err != nil {
			return err
		}
	}
	return w.Err()
}
