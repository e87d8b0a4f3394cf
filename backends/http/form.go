package http

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/sluice-bench/sluice/backends"
)

// form encodes the parts of a form (RFC 7578) and returns its media type. The boundary is the same for
// the same parts, and in none of them.
func form(parts []backends.Part) (body []byte, mediaType string) {
	sum := sha256.New()
	for _, p := range parts {
		sum.Write(p.Data)
	}
	boundary := "sluice-" + hex.EncodeToString(sum.Sum(nil)[:12])
	for contains(parts, boundary) {
		boundary += "-"
	}
	quoted := strings.NewReplacer(`"`, "%22", "\r", "%0D", "\n", "%0A") // as browsers do
	for _, p := range parts {
		body = fmt.Appendf(body, "--%s\r\nContent-Disposition: form-data; name=\"%s\"", boundary,
			quoted.Replace(p.Name))
		if p.File != "" {
			body = fmt.Appendf(body, "; filename=\"%s\"", quoted.Replace(p.File))
		}
		if p.Type != "" {
			body = append(append(body, "\r\nContent-Type: "...), p.Type...)
		}
		body = append(append(append(body, "\r\n\r\n"...), p.Data...), "\r\n"...)
	}
	return fmt.Appendf(body, "--%s--\r\n", boundary), "multipart/form-data; boundary=" + boundary
}

func contains(parts []backends.Part, boundary string) bool {
	for _, p := range parts {
		if bytes.Contains(p.Data, []byte(boundary)) {
			return true
		}
	}
	return false
}
