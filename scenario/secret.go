package scenario

import "fmt"

// Secret is a value that cannot be printed by accident: every way of formatting it gives ***.
type Secret struct{ value string }

// NewSecret wraps a value.
func NewSecret(value string) Secret { return Secret{value} }

// Reveal is the value itself; the only callers are the request encoder and the masker of outputs.
func (s Secret) Reveal() string { return s.value }

const masked = "***"

func (Secret) String() string               { return masked }
func (Secret) GoString() string             { return masked }
func (Secret) MarshalText() ([]byte, error) { return []byte(masked), nil }

// Format implements fmt.Formatter for every verb.
func (Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(masked)) }
