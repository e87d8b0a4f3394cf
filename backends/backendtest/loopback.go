package backendtest

import (
	"fmt"
	"math/rand/v2"
	"runtime"
)

// Loopback returns a listen address for a server of a test that ends before its clients: any free
// port of a loopback address that is used only once, if the system routes all of 127.0.0.0/8. On
// 127.0.0.1 the port of an ended server is soon another test's, which answers those clients, and
// counts them.
func Loopback() string {
	if runtime.GOOS != "linux" {
		return "127.0.0.1:0"
	}
	n := rand.Uint32()
	return fmt.Sprintf("127.%d.%d.%d:0", 64+n%64, n>>8&0xff, 1+n>>16%250)
}
