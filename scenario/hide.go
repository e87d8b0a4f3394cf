package scenario

import "fmt"

// What is sent may hold secrets as plain text, in any value. So what holds them by value is named when
// it is formatted or marshalled, never shown; Plan.Resolved is there to be shown.

// Format implements fmt.Formatter for every verb.
func (p Plan) Format(f fmt.State, _ rune) { _, _ = fmt.Fprintf(f, "plan %q", p.Name) }

// Format implements fmt.Formatter for every verb.
func (t Target) Format(f fmt.State, _ rune) { _, _ = fmt.Fprintf(f, "target %q", t.Name) }

// Format implements fmt.Formatter for every verb.
func (s Stage) Format(f fmt.State, _ rune) { _, _ = fmt.Fprintf(f, "stage %q", s.ID) }

// Format implements fmt.Formatter for every verb.
func (e Entry) Format(f fmt.State, _ rune) { _, _ = fmt.Fprintf(f, "entry %q", e.Name) }

// Format implements fmt.Formatter for every verb.
func (r Request) Format(f fmt.State, _ rune) { _, _ = fmt.Fprint(f, "request on ", r.Target) }

// MarshalText implements encoding.TextMarshaler.
func (p Plan) MarshalText() ([]byte, error) { return fmt.Append(nil, p), nil }

// MarshalText implements encoding.TextMarshaler.
func (t Target) MarshalText() ([]byte, error) { return fmt.Append(nil, t), nil }

// MarshalText implements encoding.TextMarshaler.
func (s Stage) MarshalText() ([]byte, error) { return fmt.Append(nil, s), nil }

// MarshalText implements encoding.TextMarshaler.
func (e Entry) MarshalText() ([]byte, error) { return fmt.Append(nil, e), nil }

// MarshalText implements encoding.TextMarshaler.
func (r Request) MarshalText() ([]byte, error) { return fmt.Append(nil, r), nil }
