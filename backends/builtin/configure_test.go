package builtin

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestConfigureInUse: a model is loaded with other configurations while requests arrive, and answers them all.
func TestConfigureInUse(t *testing.T) {
	s := start(t, Config{ServiceTime: &Dist{Mean: 0.001}})
	const infer = `{"inputs":[{"name":"INPUT0","shape":[1,2],"datatype":"FP32","data":[1,2]}]}`
	done := make(chan struct{})
	var clients sync.WaitGroup
	for range 4 {
		clients.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if a := post(t, s.HTTPURL()+"/v2/models/identity_fp32/infer", infer); a.status != 200 {
					t.Errorf("status %d: %s", a.status, a.body)
					return
				}
			}
		})
	}
	for i := range 12 {
		config := fmt.Sprintf(`{"max_batch_size":8,"instance_group":[{"count":%d}]}`, 1+i%3)
		if i%2 == 0 {
			config = strings.TrimSuffix(config, "}") + `,"dynamic_batching":{"max_queue_delay_microseconds":"500"}}`
		}
		if err := s.load("identity_fp32", true, config); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Millisecond) //nolint:forbidigo // requests arrive meanwhile
	}
	close(done)
	clients.Wait()
}

// TestConfigureRefuses: what the server does not simulate is refused, and changes nothing.
func TestConfigureRefuses(t *testing.T) {
	s := start(t, Config{})
	before := fmt.Sprint(s.models["identity_fp32"].configuration())
	for config, want := range map[string]string{
		`{`: "cannot be read",
		`{"parameters":{"x":{"string_value":"1"}}}`:                                                      "does not change parameters",
		`{"max_batch_size":8,"instance_group":[{"count":1,"rate_limiter":{"priority":2}}]}`:              "does not change instance_group.0.rate_limiter",
		`{"max_batch_size":8,"instance_group":[{"count":1,"kind":"KIND_GPU"}]}`:                          "does not change instance_group.0.kind",
		`{"max_batch_size":8,"instance_group":[{"count":1,"gpus":[0]}]}`:                                 "does not change instance_group.0.gpus",
		`{"max_batch_size":8,"instance_group":[{}],"backend":"onnxruntime"}`:                             "does not change backend",
		`{"max_batch_size":8,"instance_group":[{}],"optimization":{"cuda":{"graphs":true}}}`:             "does not change optimization",
		`{"max_batch_size":8,"instance_group":[{}],"input":[{"name":"X"}]}`:                              "does not change input",
		`{"max_batch_size":8,"instance_group":[{}],"dynamic_batching":{"preserve_ordering":true}}`:       "does not change dynamic_batching.preserve_ordering",
		`{"max_batch_size":8,"instance_group":[{}],"dynamic_batching":{"preferred_batch_size":[4]}}`:     "does not change dynamic_batching.preferred_batch_size",
		`{"max_batch_size":8,"instance_group":[{}],"dynamic_batching":{"default_queue_policy":{"x":1}}}`: "does not change dynamic_batching.default_queue_policy",
		`{"max_batch_size":0}`:                                   "max_batch_size is 0",
		`{"max_batch_size":65}`:                                  "max_batch_size is 65",
		`{"max_batch_size":8,"instance_group":[]}`:               "out of range",
		`{"max_batch_size":8,"instance_group":[{"count":9999}]}`: "count is 9999",
		`{"max_batch_size":8,"instance_group":[{}],"dynamic_batching":{"max_queue_delay_microseconds":-1}}`:     "out of range",
		`{"max_batch_size":8,"instance_group":[{}],"dynamic_batching":{"max_queue_delay_microseconds":"nine"}}`: "cannot be read",
	} {
		if err := s.load("identity_fp32", true, config); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", config, err, want)
		}
	}
	if now := fmt.Sprint(s.models["identity_fp32"].configuration()); now != before {
		t.Errorf("%s\n%s", before, now)
	}
	if err := s.load("ensemble", true, `{"max_batch_size":8}`); err == nil ||
		!strings.Contains(err.Error(), "an ensemble has no instances") {
		t.Errorf("ensemble: %v", err)
	}
}
