package builtin

import (
	"testing"
	"time"
)

// TestConfigKeepsTheModelsOwn: every field of a Config, set alone, changes what it says of every
// model and leaves the rest as the model has it.
func TestConfigKeepsTheModelsOwn(t *testing.T) {
	type settings struct {
		count, batch int
		service      float64
		delay        time.Duration
	}
	read := func(c Config) map[string]settings {
		all := map[string]settings{}
		for _, m := range catalogue() {
			m.attach(c, clock{})
			s := settings{count: m.count, batch: max(m.queue.batch, 1), delay: m.queue.delay}
			if m.queue.service != nil {
				s.service = m.queue.service.Mean
			}
			all[m.name] = s
		}
		return all
	}
	own := read(Config{})
	if s := own["slow4"]; s.count != 4 || s.service != 0.020 {
		t.Fatalf("slow4 is %+v", s)
	}
	for name, row := range map[string]struct {
		config Config
		change func(*settings)
	}{
		"service_time": {Config{ServiceTime: &Dist{Mean: 0.005}}, func(s *settings) { s.service = 0.005 }},
		"instances":    {Config{Instances: 2}, func(s *settings) { s.count = 2 }},
		"max_batch":    {Config{MaxBatch: 8}, func(s *settings) { s.batch = 8 }},
		"one a batch":  {Config{MaxBatch: 1}, func(*settings) {}},
		"queue_delay":  {Config{QueueDelay: time.Millisecond}, func(s *settings) { s.delay = time.Millisecond }},
		"errors":       {Config{Errors: 0.001}, func(*settings) {}},
		"reset":        {Config{Reset: 0.001}, func(*settings) {}},
		"stall":        {Config{Stall: &Stall{At: 1, For: 1}}, func(*settings) {}},
		"slow_body":    {Config{SlowBody: time.Millisecond}, func(*settings) {}},
		"seed":         {Config{Seed: 7}, func(*settings) {}},
	} {
		for model, got := range read(row.config) {
			want := own[model]
			row.change(&want)
			if got != want {
				t.Errorf("%s: %s is %+v, want %+v", name, model, got, want)
			}
		}
	}
}
