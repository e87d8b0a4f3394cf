package builtin

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

func TestDistMoments(t *testing.T) {
	const n = 200_000
	for _, c := range []struct {
		text            string
		mean, std       float64 // seconds
		atLeast, atMost time.Duration
	}{
		{text: `{"mean":0.005}`, mean: 0.005, atLeast: 5 * time.Millisecond, atMost: 5 * time.Millisecond},
		{text: `{"shape":"constant"}`},
		{
			text: `{"shape":"uniform","min":0.001,"max":0.003}`, mean: 0.002, std: 0.002 / math.Sqrt(12),
			atLeast: time.Millisecond, atMost: 3 * time.Millisecond,
		},
		{
			text: `{"shape":"normal","mean":0.010,"std":0.001}`, mean: 0.010, std: 0.001,
			atMost: 20 * time.Millisecond,
		},
		{
			text: `{"shape":"normal","mean":0.010,"std":0.001,"min":0.010}`, mean: 0.010 + 0.001*math.Sqrt(2/math.Pi),
			std: 0.001 * math.Sqrt(1-2/math.Pi), atLeast: 10 * time.Millisecond, atMost: 20 * time.Millisecond,
		},
		{text: `{"shape":"exponential","mean":0.010}`, mean: 0.010, std: 0.010, atMost: time.Second},
		{text: `{"shape":"lognormal","mean":0.010,"std":0.005}`, mean: 0.010, std: 0.005, atMost: time.Second},
		{
			text: `{"shape":"values","values":[0.001,0.003]}`, mean: 0.002, std: 0.001, atLeast: time.Millisecond,
			atMost: 3 * time.Millisecond,
		},
		{
			text: `{"shape":"values","values":[0.001,0.007,0.003],"weights":[3,0,1]}`, mean: 0.0015,
			std: 0.001 * math.Sqrt(0.75), atLeast: time.Millisecond, atMost: 3 * time.Millisecond,
		},
	} {
		d := decode[Dist](t, []byte(c.text))
		if err := d.validate(); err != nil {
			t.Error(c.text, err)
		}
		r := rand.New(rand.NewPCG(1, 2))
		var sum, sq float64
		for range n {
			v := d.draw(r)
			if v < c.atLeast || v > c.atMost {
				t.Fatalf("%s: drew %v", c.text, v)
			}
			sum += v.Seconds()
			sq += v.Seconds() * v.Seconds()
		}
		mean := sum / n
		std := math.Sqrt(math.Max(sq/n-mean*mean, 0))
		if math.Abs(mean-c.mean) > 0.02*c.mean+1e-9 || math.Abs(std-c.std) > 0.03*c.std+1e-6 {
			t.Errorf("%s: mean %v std %v, want %v and %v", c.text, mean, std, c.mean, c.std)
		}
	}
}

func TestDistRefusals(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`{"mean":-1}`, "-1 is not a time"},
		{`{"mean":3601}`, "3601 is not a time"},
		{`{"shape":"normal","mean":1,"std":-1}`, "-1 is not a time"},
		{`{"shape":"uniform","min":0.1}`, "uniform needs max"},
		{`{"shape":"uniform","min":2,"max":1}`, "max 1 is below min 2"},
		{`{"shape":"lognormal"}`, "lognormal needs a mean above 0"},
		{`{"shape":"values"}`, "values is empty"},
		{`{"shape":"values","values":[1],"weights":[1,2]}`, "2 weights for 1 values"},
		{`{"shape":"values","values":[1],"weights":[0]}`, "weights add up to 0"},
		{`{"shape":"values","values":[1,2],"weights":[2,-1]}`, "weight -1"},
		{`{"shape":"values","values":[-2]}`, "-2 is not a time"},
	} {
		d := decode[Dist](t, []byte(c.text))
		if err := d.validate(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.text, err, c.want)
		}
	}
	nan := math.NaN()
	for _, d := range []Dist{
		{Mean: nan},
		{Shape: "uniform", Max: &nan},
		{Shape: "values", Values: []float64{nan}},
		{Shape: "values", Values: []float64{1}, Weights: []float64{nan}},
	} {
		if d.validate() == nil {
			t.Errorf("%+v is taken", d)
		}
	}
}

// FuzzDist: whatever validates can be drawn from, within its bounds and without a panic.
func FuzzDist(f *testing.F) {
	f.Add([]byte(`{"mean":1}`))
	f.Add([]byte(`{"shape":"lognormal","mean":1e-9,"std":3600}`))
	f.Add([]byte(`{"shape":"values","values":[0,3600],"weights":[1e-300,1e300]}`))
	f.Add([]byte(`{"shape":"normal","mean":1,"std":9,"min":3599,"max":3600}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var d Dist
		if json.Unmarshal(text, &d) != nil || d.validate() != nil {
			return
		}
		r := rand.New(rand.NewPCG(1, 2))
		for range 8 {
			if v := d.draw(r); v < 0 || v > maxService {
				t.Fatalf("%s drew %v", text, v)
			}
		}
	})
}
