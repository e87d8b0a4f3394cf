package feed

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"

	"github.com/sluice-bench/sluice/backends"
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

// count is the number of elements in raw bytes. BYTES elements carry their length in front, and must fill the data.
func count(t backends.Tensor) (int64, error) {
	if size := int64(t.Type.Size()); size > 0 {
		if int64(len(t.Data))%size != 0 {
			return 0, fmt.Errorf(": %d bytes are no whole number of %s", len(t.Data), t.Type)
		}
		return int64(len(t.Data)) / size, nil
	}
	var n int64
	for rest := t.Data; len(rest) > 0; n++ {
		if len(rest) < 4 || uint64(binary.LittleEndian.Uint32(rest)) > uint64(len(rest)-4) {
			return 0, fmt.Errorf("[%d]: the 4-byte length in front of a BYTES element does not fit the data", n)
		}
		rest = rest[4+binary.LittleEndian.Uint32(rest):]
	}
	return n, nil
}
