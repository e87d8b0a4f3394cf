package feed

import (
	"encoding/base64"
	"fmt"
)

// decodeBase64 reads standard base64, with or without padding.
func decodeBase64(text string) ([]byte, error) {
	data, err := base64.StdEncoding.DecodeString(text)
	if err == nil {
		return data, nil
	}
	if data, rawErr := base64.RawStdEncoding.DecodeString(text); rawErr == nil {
		return data, nil
	}
	return nil, fmt.Errorf("b64 is not base64: %w", err)
}
