package builtin

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

// Dist is a distribution of times in seconds. Shapes and their fields:
//
//	constant     mean
//	uniform      min max
//	normal       mean std, redrawn outside min and max
//	lognormal    mean std of the drawn times themselves, redrawn outside min and max
//	exponential  mean, redrawn outside min and max
//	values       values, with weights as long as values or none
//
// Min and Max are nil if there is no such bound. An empty shape is constant.
type Dist struct {
	Shape   string    `json:"shape,omitempty"`
	Mean    float64   `json:"mean,omitempty"`
	Std     float64   `json:"std,omitempty"`
	Min     *float64  `json:"min,omitempty"`
	Max     *float64  `json:"max,omitempty"`
	Values  []float64 `json:"values,omitempty"`
	Weights []float64 `json:"weights,omitempty"`
}

// maxService bounds a drawn time, so that no arithmetic on nanoseconds can overflow.
const maxService = time.Hour

// redraws bounds the repetitions of a draw outside the bounds before it is clamped.
const redraws = 64

func (d *Dist) validate() error {
	for _, v := range append([]float64{d.Mean, d.Std, d.min(), d.max()}, d.Values...) {
		if math.IsNaN(v) || v < 0 || v > maxService.Seconds() {
			return fmt.Errorf("%v is not a time between 0 s and %v", v, maxService)
		}
	}
	if d.max() < d.min() {
		return fmt.Errorf("max %v is below min %v", d.max(), d.min())
	}
	switch d.Shape {
	case "", "constant", "normal", "exponential":
		return nil
	case "lognormal":
		if d.Mean <= 0 {
			return fmt.Errorf("lognormal needs a mean above 0, got %v", d.Mean)
		}
		return nil
	case "uniform":
		if d.Max == nil {
			return errors.New("uniform needs max")
		}
		return nil
	case "values":
		return d.validateValues()
	}
	return fmt.Errorf("unknown shape %q, want constant, uniform, normal, exponential, lognormal or values",
		d.Shape)
}

func (d *Dist) validateValues() error {
	if len(d.Values) == 0 {
		return errors.New("values is empty")
	}
	if d.Weights == nil {
		return nil
	}
	if len(d.Weights) != len(d.Values) {
		return fmt.Errorf("%d weights for %d values", len(d.Weights), len(d.Values))
	}
	sum := 0.0
	for _, w := range d.Weights {
		if !(w >= 0) || math.IsInf(w, 0) {
			return fmt.Errorf("weight %v, want 0 or more", w)
		}
		sum += w
	}
	if !(sum > 0) || math.IsInf(sum, 0) {
		return fmt.Errorf("weights add up to %v, want more than 0", sum)
	}
	return nil
}

func (d *Dist) min() float64 {
	if d.Min == nil {
		return 0
	}
	return *d.Min
}

func (d *Dist) max() float64 {
	if d.Max == nil {
		return maxService.Seconds()
	}
	return *d.Max
}

// draw returns one time of the distribution, for a validated Dist from 0 to maxService.
func (d *Dist) draw(r *rand.Rand) time.Duration {
	lo, hi := d.min(), d.max()
	v := d.once(r)
	for i := 0; (v < lo || v > hi) && i < redraws; i++ {
		v = d.once(r)
	}
	v = math.Min(math.Max(v, lo), math.Min(hi, maxService.Seconds()))
	return time.Duration(math.Round(v * 1e9))
}

func (d *Dist) once(r *rand.Rand) float64 {
	switch d.Shape {
	case "uniform":
		return d.min() + r.Float64()*(d.max()-d.min())
	case "normal":
		return d.Mean + d.Std*r.NormFloat64()
	case "exponential":
		return d.Mean * r.ExpFloat64()
	case "lognormal":
		// Mean and Std describe the times; mu and sigma of their logarithms follow.
		s2 := math.Log1p(d.Std * d.Std / (d.Mean * d.Mean))
		return math.Exp(math.Log(d.Mean) - s2/2 + math.Sqrt(s2)*r.NormFloat64())
	case "values":
		return d.pick(r)
	}
	return d.Mean
}

func (d *Dist) pick(r *rand.Rand) float64 {
	if d.Weights == nil {
		return d.Values[r.IntN(len(d.Values))]
	}
	sum := 0.0
	for _, w := range d.Weights {
		sum += w
	}
	u, last := r.Float64()*sum, 0
	for i, w := range d.Weights {
		if w == 0 {
			continue
		}
		if last = i; u < w {
			break
		}
		u -= w
	}
	return d.Values[last]
}
