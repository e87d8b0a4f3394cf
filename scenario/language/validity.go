package language

import "time"

// Validity holds the limits of the client over which numbers are intervals, or invalid.
type Validity struct {
	At Place `def:"validity"`
	// How late this client may send requests by its own fault; at least 1 % of the median service time.
	// Example: 5ms
	SendDelay *Val[time.Duration] `plan:"send_delay" default:"1ms" min:"10us" max:"1min"`
	// How long this client may do nothing before that counts as a pause.
	// Example: 50ms
	Pause *Val[time.Duration] `plan:"pause" default:"20ms" min:"1ms" max:"1s"`
	// The share of hold that pauses may take; over it, and over 250 ms in all, the measurement is invalid.
	// Example: 20%
	Paused *Val[Ratio] `plan:"paused" default:"10%" max:"100%"`
}
