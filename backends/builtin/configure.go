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
	given, err := readObject(config)
	if err = errors.Join(err, json.Unmarshal([]byte(config), &want)); err != nil {
		return invalid("failed to load '%s', its configuration cannot be read: %v", m.name, err)
	}
	if key := m.unchangeable(given); key != "" {
		return invalid("failed to load '%s', the embedded server does not change %s", m.name, key)
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

// unchangeable returns a key of a configuration that differs from what the model has and that the server does
// not simulate; "" if there is none.
func (m *model) unchangeable(given object) string {
	own := object{}
	if text, err := json.Marshal(m.configuration()); err == nil {
		own, _ = readObject(string(text)) // in the form of given
	}
	group := object{"name": m.name, "kind": "KIND_CPU"}
	batching := object{"preferred_batch_size": []any{given["max_batch_size"]}}
	for _, key := range slices.Sorted(maps.Keys(given)) {
		switch key {
		case "max_batch_size":
		case "instance_group":
			groups, _ := given[key].([]any)
			for i, g := range groups {
				if inner := odd(g, group, "count"); inner != "" {
					return fmt.Sprintf("%s.%d.%s", key, i, inner)
				}
			}
		case "dynamic_batching":
			if inner := odd(given[key], batching, "max_queue_delay_microseconds"); inner != "" {
				return key + "." + inner
			}
		default:
			if !equalJSON(given[key], own[key]) {
				return key
			}
		}
	}
	return ""
}

// odd returns a key of a map whose value is another than that of own, but for one that may change.
func odd(given any, own object, changes string) string {
	values, _ := given.(object)
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if key != changes && !equalJSON(values[key], own[key]) {
			return key
		}
	}
	return ""
}

// equalJSON reports whether a value of JSON is what the model has. Integers may be texts, and what the model lacks
// may be there with its default, as protobuf has both.
func equalJSON(given, own any) bool {
	switch given := given.(type) {
	case object:
		was, _ := own.(object)
		for key := range given {
			if !equalJSON(given[key], was[key]) {
				return false
			}
		}
		return true
	case []any:
		was, _ := own.([]any)
		return slices.EqualFunc(given, was, equalJSON)
	}
	return fmt.Sprint(given) == fmt.Sprint(own) ||
		own == nil && (given == nil || given == "" || given == false || fmt.Sprint(given) == "0")
}

// readObject reads a map of JSON. Numbers keep their digits.
func readObject(text string) (o object, err error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	err = d.Decode(&o)
	return o, err
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
