package language

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strconv"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/scenario/expression"
	"github.com/sluice-bench/sluice/scenario/metric"
	"github.com/sluice-bench/sluice/scenario/source"
)

// TestLeaves reads scalars of every type. want is the value, or "no" and the word that was likely meant.
func TestLeaves(t *testing.T) {
	duration, spans := reflect.TypeFor[time.Duration](), reflect.TypeFor[Span]()
	tests := []struct {
		t    reflect.Type
		text string
		want string
	}{
		{duration, "50ms", "50ms"},
		{duration, "1.5s", "1.5s"},
		{duration, "2m", "2m0s"},
		{duration, "1h30m", "1h30m0s"},
		{duration, "0s", "0s"},
		{duration, "5us", "5µs"},
		{duration, "5µs", "5µs"},
		{duration, "50", "no 50s"},
		{duration, "-5s", "no"},
		{duration, "+5s", "no"},
		{duration, ".5s", "no 0.5s"},
		{duration, "1d", "no"},
		{duration, "5 s", "5s"},
		{duration, "36.81 ms", "36.81ms"},
		{duration, "1 µs", "1µs"},
		{duration, "1 μs", "1µs"},
		{duration, "5min", "5m0s"},
		{duration, "1h30min", "1h30m0s"},
		{duration, "1 h 30 min", "1h30m0s"},
		{duration, "5min 3s", "5m3s"},
		{duration, "5 ", "no"},
		{duration, "min", "no"},
		{duration, "5 m s", "no"},
		{duration, "5ms 3", "no"},
		{duration, "5\u00a0ms", "no 5ms"},
		{duration, "5 minutes", "no 5m"},
		{duration, "5/s", "no"},
		{duration, "", "no"},
		{duration, "99999999h", "no"},
		{reflect.TypeFor[Rate](), "200/s", "200"},
		{reflect.TypeFor[Rate](), "90/min", "1.5"},
		{reflect.TypeFor[Rate](), "0.5/s", "0.5"},
		{reflect.TypeFor[Rate](), "200 /s", "200"},
		{reflect.TypeFor[Rate](), "90 /min", "1.5"},
		{reflect.TypeFor[Rate](), "200 / s", "no 200/s"},
		{reflect.TypeFor[Rate](), "36/h", "0.01"},
		{reflect.TypeFor[Rate](), "5/m", "no 5/min"},
		{reflect.TypeFor[Rate](), "5/sec", "no 5/s"},
		{reflect.TypeFor[Rate](), "5", "no 5/s"},
		{reflect.TypeFor[Rate](), "5 rps", "no 5/s"},
		{reflect.TypeFor[Rate](), "5 s", "no"},
		{reflect.TypeFor[Rate](), "/s", "no"},
		{reflect.TypeFor[Ratio](), "0.1%", "0.001"},
		{reflect.TypeFor[Ratio](), "999%", "9.99"},
		{reflect.TypeFor[Ratio](), "0.1 %", "0.001"},
		{reflect.TypeFor[Ratio](), " %", "no"},
		{reflect.TypeFor[Ratio](), "0.1", "no 10%"},
		{reflect.TypeFor[Ratio](), "%", "no"},
		{reflect.TypeFor[Size](), "64MiB", "67108864"},
		{reflect.TypeFor[Size](), "1MB", "1000000"},
		{reflect.TypeFor[Size](), "1.5KiB", "1536"},
		{reflect.TypeFor[Size](), "1.5  KiB", "1536"},
		{reflect.TypeFor[Size](), "512B", "512"},
		{reflect.TypeFor[Size](), "64mib", "no 64MiB"},
		{reflect.TypeFor[Size](), "64", "no 64B"},
		{reflect.TypeFor[Size](), "99999999999GiB", "no"},
		{reflect.TypeFor[power](), "500W", "500"},
		{reflect.TypeFor[power](), "0.5 kW", "500"},
		{reflect.TypeFor[power](), "300mW", "0.3"},
		{reflect.TypeFor[power](), "500", "no 500W"},
		{reflect.TypeFor[power](), "500 watts", "no 500W"},
		{reflect.TypeFor[power](), "500MW", "no"},
		{reflect.TypeFor[energy](), "2J", "2"},
		{reflect.TypeFor[energy](), "500 mJ", "0.5"},
		{reflect.TypeFor[energy](), "2", "no 2J"},
		{reflect.TypeFor[energy](), "2 joules", "no 2J"},
		{spans, "60s", "{1m0s 0 0 0 0}"},
		{spans, "60 s", "{1m0s 0 0 0 0}"},
		{spans, "5 min", "{5m0s 0 0 0 0}"},
		{spans, "1h30min", "{1h30m0s 0 0 0 0}"},
		{spans, "5 mi", "no"},
		{spans, "1 request", "{0s 1 0 0 0}"},
		{spans, "1000 requests", "{0s 1000 0 0 0}"},
		{spans, "0 requests", "no"},
		{spans, "5 reqests", "no 5 requests"},
		{spans, "5 sessions", "{0s 0 0 5 0}"},
		{spans, "1 pass", "{0s 0 0 0 1}"},
		{spans, "2  sequences", "{0s 0 2 0 0}"},
		{spans, "1000", "no"},
		{spans, "99999999999999999999 requests", "no"},
		{reflect.TypeFor[Connections](), "per_slot", "{false 0}"},
		{reflect.TypeFor[Connections](), "per_request", "{true 0}"},
		{reflect.TypeFor[Connections](), "16", "{false 16}"},
		{reflect.TypeFor[Connections](), "0", "no"},
		{reflect.TypeFor[Connections](), "per-slot", "no per_slot"},
		{reflect.TypeFor[ExactOutput](), "auto", "auto"},
		{reflect.TypeFor[ExactOutput](), "true", "true"},
		{reflect.TypeFor[ExactOutput](), "atuo", "no auto"},
		{reflect.TypeFor[int64](), "16", "16"},
		{reflect.TypeFor[int64](), "-3", "-3"},
		{reflect.TypeFor[int64](), "1e3", "no 1000"},
		{reflect.TypeFor[int64](), "1.0", "no 1"},
		{reflect.TypeFor[int64](), "1.5", "no"},
		{reflect.TypeFor[int64](), "9223372036854775807", strconv.Itoa(math.MaxInt64)},
		{reflect.TypeFor[int64](), "9223372036854775808", "no"},
		{reflect.TypeFor[int64](), "abc", "no"},
		{reflect.TypeFor[bool](), "true", "true"},
		{reflect.TypeFor[bool](), "yes", "no true"},
		{reflect.TypeFor[bool](), "OFF", "no false"},
		{reflect.TypeFor[Number](), "0.5", "0.5"},
		{reflect.TypeFor[Number](), "1e3", "1000"},
		{reflect.TypeFor[Number](), "1e999", "no"},
		{reflect.TypeFor[Number](), "5%", "no"},
		{reflect.TypeFor[any](), "5", "5"},
		{reflect.TypeFor[any](), "0.5", "0.5"},
		{reflect.TypeFor[element](), "5", "5"},
		{reflect.TypeFor[element](), "x", "x"},
		{reflect.TypeFor[element](), "18446744073709551615", "18446744073709551615"},
		{reflect.TypeFor[any](), "true", "true"},
		{reflect.TypeFor[any](), "x", "x"},
	}
	for _, tt := range tests {
		v, wrong := leafOf(tt.t).parse(source.Plain(tt.text, source.Pos{}), "")
		got := fmt.Sprint(v)
		if wrong != nil {
			got = "no"
			if wrong.Nearest != "" {
				got += " " + wrong.Nearest
			}
		}
		if got != tt.want {
			t.Errorf("%s %q: %s, want %s", tt.t, tt.text, got, tt.want)
		}
	}
}

// TestPrintedValuesCanBeTyped: what a report prints can be copied into a plan.
func TestPrintedValuesCanBeTyped(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	types := map[metric.Dim]reflect.Type{
		metric.Duration: reflect.TypeFor[time.Duration](), metric.Rate: reflect.TypeFor[Rate](),
		metric.Ratio: reflect.TypeFor[Ratio](), metric.Bytes: reflect.TypeFor[Size](),
		metric.Power: reflect.TypeFor[power](), metric.Energy: reflect.TypeFor[energy](),
	}
	for dim, typ := range types {
		for range 500 {
			v := math.Pow(10, random.Float64()*12-6)
			if dim == metric.Bytes {
				v = math.Round(v) + 1
			}
			text := expression.Format(dim, v)
			got, wrong := leafOf(typ).parse(source.Plain(text, source.Pos{}), "")
			if wrong != nil {
				t.Fatalf("%s %q: %s", dim, text, wrong.Summary)
			}
			read := map[metric.Dim]func() float64{
				metric.Duration: func() float64 { return got.(time.Duration).Seconds() },
				metric.Rate:     func() float64 { return float64(got.(Rate)) },
				metric.Ratio:    func() float64 { return float64(got.(Ratio)) },
				metric.Bytes:    func() float64 { return float64(got.(Size)) },
				metric.Power:    func() float64 { return float64(got.(power)) },
				metric.Energy:   func() float64 { return float64(got.(energy)) },
			}[dim]()
			if math.Abs(read-v) > 5e-4*v+1e-9 {
				t.Errorf("%v is printed as %q and read as %v", v, text, read)
			}
		}
	}
	for range 500 {
		d := time.Duration(math.Pow(10, random.Float64()*12+3))
		for _, text := range []string{source.Duration(d), source.About(d)} {
			read, ok := source.ParseDuration(text)
			if !ok || math.Abs(read.Seconds()-d.Seconds()) > 0.05*d.Seconds()+0.001 {
				t.Errorf("%v is printed as %q and read as %v", d, text, read)
			}
		}
	}
}
