package builtin

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// loading is what a configuration may change of a model.
type loading struct {
	size  int // max_batch_size
	count int // instances
	batch int // rows of one execution; 0: one request
	delay time.Duration
}

// settings returns what the model has now.
func (m *model) settings() loading {
	q := m.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	now := loading{size: m.maxBatch, count: q.count, batch: q.batch, delay: q.delay}
	if size := m.size.Load(); size > 0 {
		now.size = int(size)
	}
	return now
}

// whole is an integer of JSON, which protobuf writes as text where it has 64 bits.
type whole int64

// UnmarshalJSON implements json.Unmarshaler.
func (w *whole) UnmarshalJSON(text []byte) error {
	return json.Unmarshal([]byte(strings.Trim(string(text), `"`)), (*int64)(w))
}

// configure loads the model with a configuration in JSON: the number of instances, the largest batch and
// dynamic batching. All else must be what the model has.
func (m *model) configure(config string) error {
	var want struct {
		MaxBatchSize whole `json:"max_batch_size"`
		Groups       []struct {
			Count whole `json:"count"`
		} `json:"instance_group"`
		Batching *struct {
			Delay whole `json:"max_queue_delay_microseconds"`
		} `json:"dynamic_batching"`
	}
	given := object{}
	if err := errors.Join(json.Unmarshal([]byte(config), &given), json.Unmarshal([]byte(config), &want)); err != nil {
		return invalid("failed to load '%s', its configuration cannot be read: %v", m.name, err)
	}
	own := m.configuration().(object)
	own["dynamic_batching"] = nil // which is absent while it is off
	for _, key := range slices.Sorted(maps.Keys(given)) {
		if _, ok := own[key]; !ok {
			return invalid("failed to load '%s', the embedded server does not change %s", m.name, key)
		}
	}
	size := int(want.MaxBatchSize)
	switch {
	case m.steps != nil:
		return invalid("failed to load '%s', an ensemble has no instances", m.name)
	case size < 0 || size > maxInstances, (size == 0) != (m.maxBatch == 0), size > m.maxBatch:
		return invalid("failed to load '%s', max_batch_size is %d, and the model takes %d rows", m.name, size, m.maxBatch)
	}
	next := loading{}
	for _, g := range want.Groups {
		if g.Count < 0 || g.Count > maxInstances {
			return invalid("failed to load '%s', count is %d", m.name, g.Count)
		}
		next.count += max(1, int(g.Count))
	}
	if want.Batching != nil {
		next.batch, next.delay = size, time.Duration(want.Batching.Delay)*time.Microsecond
	}
	if next.count < 1 || next.count > maxInstances || next.delay < 0 || next.delay > time.Minute {
		return invalid("failed to load '%s', instance_group or dynamic_batching is out of range", m.name)
	}
	m.size.Store(int64(size))
	if err := m.queue.reconfigure(next.count, next.batch, next.delay); err != nil {
		return internal("failed to load '%s', %v", m.name, err)
	}
	return nil
}

// readConfig returns the configuration in the body of a load request, "" without one.
func readConfig(r *http.Request) (string, error) {
	var body struct {
		Parameters struct {
			Config string `json:"config"`
		} `json:"parameters"`
	}
	err := json.NewDecoder(io.LimitReader(r.Body, 1<<20)).Decode(&body)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", invalid("%s", fmt.Sprintf("failed to parse the request JSON buffer: %v", err))
	}
	return body.Parameters.Config, nil
}
