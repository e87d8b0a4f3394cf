package backendtest

import (
	"fmt"
	"math/rand/v2"
	"runtime"
)

// Loopback is where a server of a test listens that goes away before its clients do: any free port of a loopback address
// that nobody else has, where the system routes all of 127.0.0.0/8. On 127.0.0.1 the port of a server that is gone is
// soon another test's, which answers those clients, and counts them.
func Loopback() string {
	if runtime.GOOS != "linux" {
		return "127.0.0.1:0"
	}
	n := rand.Uint32()
	return fmt.Sprintf("127.%d.%d.%d:0", 64+n%64, n>>8&0xff, 1+n>>16%250)
}
