package executor

import (
	"fmt"
	"os"

	"github.com/sluice-bench/sluice/executor/feed"
	"github.com/sluice-bench/sluice/executor/load"
	"github.com/sluice-bench/sluice/scenario"
)

// record reads the gaps or times that a load plays from a file or from the rows of the stage's data.
func (in *inputs) record(l scenario.Load) error {
	return scenario.VisitLoad(l,
		func(scenario.Concurrency) error { return nil },
		func(scenario.Rate) error { return nil },
		in.recordGaps,
		in.recordTimes)
}

func (in *inputs) recordGaps(i scenario.Intervals) error {
	f, err := os.Open(i.File.Name)
	if err != nil {
		return fmt.Errorf("intervals: %w", err)
	}
	defer f.Close() //nolint:errcheck // only read
	if in.recorded, err = load.ReadGaps(f, int64(i.Unit)); err != nil {
		return fmt.Errorf("intervals: %s: %w", i.File.Name, err)
	}
	return nil
}

func (in *inputs) recordTimes(s scenario.Schedule) error {
	if s.File == nil {
		times, diags := feed.Times(in.entries[0].plan.Request.Data)
		if diags.HasErrors() {
			return fmt.Errorf("schedule: %s", diags[0].Summary)
		}
		in.recorded = times
		return nil
	}
	f, err := os.Open(s.File.Name)
	if err != nil {
		return fmt.Errorf("schedule: %w", err)
	}
	defer f.Close() //nolint:errcheck // only read
	if in.recorded, err = load.ReadTimes(f, s.File.Name, int64(s.Unit)); err != nil {
		return fmt.Errorf("schedule: %s: %w", s.File.Name, err)
	}
	return nil
}
