package triton

import (
	"fmt"
	"testing"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/backendtest"
	"github.com/sluice-bench/sluice/backends/tensor"
)

func TestLaw(t *testing.T) {
	text := `{"model_name":"m","outputs":[{"name":"O","datatype":"UINT8","shape":[1],` +
		`"parameters":{"binary_data_size":1}}]}`
	reply := fmt.Sprintf("HTTP/1.1 200 OK\r\nInference-Header-Content-Length: %d\r\nContent-Length: "+
		"%d\r\n\r\n%s\x07", len(text), len(text)+1, text)
	backendtest.Run(t, backendtest.Suite{
		Kind: Kind(), Target: backends.Target{Model: "m"},
		Servers: backendtest.HTTP(backendtest.RawOptions{}, reply),
		Request: backends.Request{
			Inputs: []backends.Tensor{{Name: "I", Type: tensor.Uint8, Shape: []int64{1}, Data: []byte{7}}},
			Expect: &backends.Expect{
				Outputs: []backends.Tensor{{Name: "O", Type: tensor.Uint8, Shape: []int64{1}, Data: []byte{7}}},
			},
		},
	})
}
