package feed

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/sluice-bench/sluice/executor/feed/format"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/source"
)

// A session is the sequence of a dataset of text: the rows of one session_id, each of which is a turn. It has
// only what is new with it: a prompt, or messages.

func groupedRecords(list []format.Record) [][]int {
	return grouped(len(list), func(i int) *format.Record { return &list[i] })
}

// checkSessionKeys refuses keys about sessions for data whose rows form none.
func checkSessionKeys(d *scenario.Dataset, sessions bool) (diags source.Diagnostics) {
	if sessions {
		if d.Timing == "strict" && d.IdleCapPos.Line > 0 {
			return source.Diagnostics{source.Errorf(source.CodeNoEffect,
				`"idle_cap" has no effect with "timing: strict": each row is due at its own time`).
				Help("remove `idle_cap`, or write `timing: open`").At("", d.IdleCapPos, 0)}
		}
		return nil
	}
	type key struct {
		name string
		pos  source.Pos
	}
	keys := []key{{"timing", d.TimingPos}, {"idle_cap", d.IdleCapPos}, {"sample", d.SamplePos}}
	if d.Prompts != nil || d.Command != nil { // of rows, format.Read says it
		keys = append(keys, key{"history", d.HistoryPos})
	}
	for _, k := range keys {
		if k.pos.Line > 0 {
			help := "rows with the same session_id are the turns of a session"
			switch {
			case d.Prompts != nil:
				help = "prompts with several `turns` are sessions"
			case d.Command != nil:
				help = "sessions must be known before the program runs: write its output to a file, and give that"
			}
			diags = append(diags, source.Errorf(source.CodeNoEffect, "%q has no effect: the rows form no sessions",
				k.name).Help(help).At("", k.pos, 0))
		}
	}
	return diags
}

// drawSessions returns the sequences that are used, in their order: all, or the dataset's share of them.
func drawSessions(d *scenario.Dataset, streams [][]int) [][]int {
	if streams == nil || d.Sample <= 0 || d.Sample >= 1 {
		return streams
	}
	n := max(int(math.Round(d.Sample*float64(len(streams)))), 1)
	drawn := rand.New(rand.NewPCG(d.Seed, 0x73657373696f6e73)).Perm(len(streams))[:n]
	slices.Sort(drawn)
	kept := make([][]int, n)
	for i, at := range drawn {
		kept[i] = streams[at]
	}
	return kept
}

// sampled returns the rows of the sequences that are used, in the order of the data, and these sequences of
// them.
func sampled(d *scenario.Dataset, rows []row, streams [][]int) ([]row, [][]int) {
	drawn := drawSessions(d, streams)
	if len(drawn) == len(streams) {
		return rows, streams
	}
	used := ascending(drawn)
	kept, place := make([]row, len(used)), make(map[int]int, len(used))
	for i, at := range used {
		kept[i], place[at] = rows[at], i
	}
	for i, stream := range drawn {
		mine := make([]int, len(stream))
		for j, at := range stream {
			mine[j] = place[at]
		}
		drawn[i] = mine
	}
	return kept, drawn
}

// ascending returns the steps of sequences in the order of the data.
func ascending(streams [][]int) []int {
	list := slices.Concat(streams...)
	slices.Sort(list)
	return list
}

// timedRecords returns the records of the sessions that are used whose times the load plays: each session's
// first, or all of them.
func timedRecords(d *scenario.Dataset, records []format.Record, all bool) (list []format.Record) {
	streams := groupedRecords(records)
	if streams == nil {
		return records
	}
	streams = drawSessions(d, streams)
	if all {
		for _, at := range ascending(streams) {
			list = append(list, records[at])
		}
		return list
	}
	for _, s := range streams {
		list = append(list, records[s[0]])
	}
	return list
}

// timeTurns sets the recorded times of the turns of sessions, and makes their delays pauses after the turns
// before them. Longer ones are cut to the dataset's idle_cap.
func timeTurns(b *build, built *Built, rows []row) {
	most := int64(math.MaxInt64)
	if b.dataset.IdleCap > 0 {
		most = int64(b.dataset.IdleCap)
	}
	delays := built.Delays
	if delays != nil {
		built.Delays = slices.Repeat([]int64{-1}, len(delays))
	}
	if slices.ContainsFunc(rows, func(r row) bool { return r.rec.Timestamp != nil }) {
		built.Times = slices.Repeat([]int64{-1}, len(rows))
	}
	for _, s := range built.Streams {
		cut, last := int64(0), int64(-1) // what was cut off so far, and the last recorded time
		for i, at := range s {
			rec := rows[at].rec
			if delays != nil && delays[at] >= 0 {
				switch delay := min(delays[at], most); {
				case rec.From.After:
					built.Delays[at] = delay
				case i > 0:
					built.Delays[s[i-1]] = delay
				}
			}
			if rec.Timestamp == nil {
				continue
			}
			when, err := format.Timestamp(format.TimestampKey, rec.Timestamp, format.TimeUnit(b.dataset, rec))
			switch {
			case err != nil:
				b.fail(rec.From.Pos, "timestamps", "%s: %s", rec.Name(), err)
				return
			case when < last:
				b.fail(rec.From.Pos, "timestamps", "%s is due before the turn in front of it; times must ascend",
					rec.Name())
				return
			case last >= 0 && when-last > most:
				cut += when - last - most
			}
			last, built.Times[at] = when, when-cut
		}
	}
}
