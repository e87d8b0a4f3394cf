package format

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/sluice-bench/sluice/backends/wire/jsonscan"
	"github.com/sluice-bench/sluice/scenario"
)

// TimestampKey names the member of a row that says when it was recorded, ms unless the data says
// otherwise. It is sent only to a model that has an input of this name.
const TimestampKey = "timestamp"

const msec = 1_000_000 // ns

// TimeUnit returns the unit of a row's timestamp and delay, ns: that of the plan, else that of the format,
// else ms.
func TimeUnit(d *scenario.Dataset, rec *Record) int64 {
	return cmp.Or(int64(d.TimeUnit), rec.From.TimeUnit, msec)
}

// Timestamp returns the member with this key in ns: a number of units, or a text with a unit of its
// own such as 1.5s.
func Timestamp(key string, text []byte, unit int64) (int64, error) {
	if plain := plainText(text); !jsonscan.IsNumber(text) {
		d, err := time.ParseDuration(plain)
		switch {
		case err != nil:
			return 0, fmt.Errorf("%q must be one number: %.40s", key, text)
		case d < 0:
			return 0, fmt.Errorf("%q is negative: %s", key, plain)
		}
		return int64(d), nil
	}
	n := json.Number(text)
	if whole, err := n.Int64(); err == nil && whole >= 0 && whole <= math.MaxInt64/unit {
		return whole * unit, nil
	}
	units, err := n.Float64()
	switch {
	case units < 0:
		return 0, fmt.Errorf("%q is negative: %s", key, text)
	case err != nil || units*float64(unit) >= math.MaxInt64:
		return 0, fmt.Errorf("%q is more than 292 years: %s", key, text)
	}
	return int64(math.Round(units * float64(unit))), nil
}
