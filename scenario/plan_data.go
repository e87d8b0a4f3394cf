package scenario

import (
	"time"

	"github.com/sluice-bench/sluice/scenario/source"
)

// Dist is a drawn number. Unit: that of the key it stands under (durations: seconds).
type Dist struct {
	Shape               string // constant uniform normal exponential lognormal values
	Mean, Std, Min, Max float64
	HasMin, HasMax      bool
	Values              []float64
	Weights             []float64 // as long as Values; nil: equal
}

// Dataset is where inputs come from. Source is the key that says so; Generate, Files, Dir and Rows are
// set for theirs only.
type Dataset struct {
	Name         string
	Pos          source.Pos
	Source       string    // generate file dir bodies rows prompts command
	Generate     *Generate `plan:"-"`
	Files        []Path    // of `file`; those that the pattern of `bodies` finds, by name
	Dir          *Path
	Rows         []Row         `plan:"-"`
	Columns      []Column      `plan:"-"`
	Format       string        // as written; "" by extension and content
	TimeUnit     time.Duration // of the rows' timestamps; 0: that of the format
	TimeUnitPos  source.Pos    // of the key; the zero Pos: it is not written
	Order        string        // sequential shuffle random
	AtEnd        string        // repeat stop
	Count        int           // rows that generate draws
	StringLength Dist
}

// Row is a row that the plan holds.
type Row struct {
	Pos  source.Pos
	JSON string
}

// Column says which column of the data is read as a field of a row.
type Column struct {
	Field, Name string
	Pos         source.Pos
}

// Generate draws inputs. Default applies to inputs without an entry of their own.
type Generate struct {
	Default string // random zero
	Inputs  []Generator
}

// Generator draws one input's elements: exactly one of the fields after Pos is set.
type Generator struct {
	Input    string
	Pos      source.Pos
	Word     string // random zero
	Constant []any  `plan:"-"` // elements in row-major order, repeated to fill: bool, int64, uint64, float64, string
	Dist     *Dist
	Length   *Dist // of strings
	Alphabet string
	OneOf    []any
	File     *Path
}
