package main

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// The model M takes UINT8 INPUT0[880], so that a request's body is about 1 KiB, and gives UINT8
// OUTPUT0[16]; a reply's body has replySize bytes.
const (
	inputSize = 880
	replySize = 256
)

// httpReply is the answer to every POST.
func httpReply() []byte {
	body := `{"model_name":"M","model_version":"1","outputs":[{"name":"OUTPUT0","datatype":"UINT8",` +
		`"shape":[16],"data":[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15]}]}`
	return ok(body + strings.Repeat(" ", replySize-len(body)))
}

// httpMetadata answers the GETs that clients make before the load.
func httpMetadata(path string) []byte {
	switch {
	case strings.HasSuffix(path, "/ready"), strings.HasSuffix(path, "/live"):
		return ok("")
	case strings.HasSuffix(path, "/models"):
		return ok(`{"object":"list","data":[{"id":"M","object":"model","created":1,"owned_by":"ref"}]}`)
	case path == "/v2":
		return ok(`{"name":"refserver","version":"1","extensions":["binary_tensor_data"]}`)
	}
	return ok(fmt.Sprintf(`{"name":"M","versions":["1"],"platform":"ref",`+
		`"inputs":[{"name":"INPUT0","datatype":"UINT8","shape":[%d]}],"outputs":[{"name":"OUTPUT0",`+
		`"datatype":"UINT8","shape":[16]}]}`, inputSize))
}

func ok(body string) []byte {
	return fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"+
		"Content-Length: %d\r\n\r\n%s", len(body), body)
}

// grpcReplies is the answer to each method of the inference service. Numbers of fields: see
// KServe's protocol.
func grpcReplies() map[string][]byte {
	yes := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), 1)
	return map[string][]byte{
		"ServerLive": yes, "ServerReady": yes, "ModelReady": yes,
		"ServerMetadata": text(text(nil, 1, "refserver"), 2, "1"),
		"ModelMetadata": message(message(text(text(text(nil, 1, "M"), 2, "1"), 3, "ref"),
			4, tensor("INPUT0", inputSize)), 5, tensor("OUTPUT0", 16)),
		"ModelInfer": inferReply(),
	}
}

// inferReply is a ModelInferResponse of replySize bytes: its id (3) is the padding.
func inferReply() []byte {
	m := message(text(text(nil, 1, "M"), 2, "1"), 5, tensor("OUTPUT0", 16))
	m = message(m, 6, make([]byte, 16))
	pad := replySize - len(m) - 3 // a tag of one byte, a length of two
	return text(m, 3, strings.Repeat("0", pad))
}

// tensor is name (1), datatype (2) and shape (3).
func tensor(name string, size uint64) []byte {
	b := text(text(nil, 1, name), 2, "UINT8")
	return message(b, 3, protowire.AppendVarint(nil, size))
}

func text(b []byte, field protowire.Number, v string) []byte {
	return message(b, field, []byte(v))
}

func message(b []byte, field protowire.Number, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), v)
}
