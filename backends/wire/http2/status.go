package http2

import (
	"strconv"
	"strings"
)

// Codes of gRPC that are handled specially.
const (
	cancelled         = 1
	unknown           = 2
	permissionDenied  = 7
	resourceExhausted = 8
	unimplemented     = 12
	internal          = 13
	unavailable       = 14
	unauthenticated   = 16
)

// statusNames are the names of gRPC's codes, as its libraries print them.
var statusNames = [...]string{
	"OK", "Canceled", "Unknown", "InvalidArgument", "DeadlineExceeded", "NotFound", "AlreadyExists",
	"PermissionDenied",
	"ResourceExhausted", "FailedPrecondition", "Aborted", "OutOfRange", "Unimplemented", "Internal",
	"Unavailable", "DataLoss",
	"Unauthenticated",
}

func statusName(code int32) string {
	if int(code) < len(statusNames) {
		return statusNames[code]
	}
	return "Code(" + strconv.Itoa(int(code)) + ")"
}

// unescape decodes the percent-encoding of grpc-message. Invalid escapes are left unchanged.
func unescape(text string) string {
	if !strings.Contains(text, "%") {
		return text
	}
	b := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+2 < len(text) {
			if v, err := strconv.ParseUint(text[i+1:i+3], 16, 8); err == nil {
				b = append(b, byte(v))
				i += 2
				continue
			}
		}
		b = append(b, text[i])
	}
	return string(b)
}
