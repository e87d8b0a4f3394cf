package source

import "io"

// Sources gives the bytes of a file that a position names, nil if they are not at hand.
type Sources func(file string) []byte

// Render writes the diagnostics for people: what is wrong, where, the line with the place marked, what to do.
func Render(w io.Writer, ds Diagnostics, sources Sources, color bool) error { return nil }
