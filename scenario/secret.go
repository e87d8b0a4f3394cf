package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Secret is a value that cannot be printed by accident: every way of formatting it gives ***.
type Secret struct{ value string }

// NewSecret wraps a value.
func NewSecret(value string) Secret { return Secret{value} }

// Reveal is the value itself; the only callers are the request encoder and the masker of outputs.
func (s Secret) Reveal() string { return s.value }

const masked = "***"

func (Secret) String() string { return masked }

// GoString implements fmt.GoStringer.
func (Secret) GoString() string { return masked }

// MarshalText implements encoding.TextMarshaler.
func (Secret) MarshalText() ([]byte, error) { return []byte(masked), nil }

// Format implements fmt.Formatter for every verb.
func (Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(masked)) }

// Mask replaces every secret value in s by ***.
func (p *Plan) Mask(s string) string { return maskAll(s, p.Secrets) }

// maskAll replaces the longest secrets first, so that one that is part of another leaves nothing of it.
func maskAll(s string, secrets []Secret) string {
	values := make([]string, 0, len(secrets))
	for _, secret := range secrets {
		if secret.value != "" {
			values = append(values, secret.value)
		}
	}
	slices.SortFunc(values, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	for _, v := range values {
		s = strings.ReplaceAll(s, v, masked)
	}
	return s
}
