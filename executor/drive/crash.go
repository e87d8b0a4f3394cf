package drive

import "fmt"

// A panic in a goroutine of the player (a lane, a source, a schedule) would end the whole process, and with it all that was
// measured. Instead it ends the player: nothing more is sent, what is in flight is cancelled, lanes are closed, and the
// panic goes on where Open or Closed was called.

// spawn runs f in a goroutine that closeLanes waits for.
func (p *player) spawn(f func()) {
	p.group.Go(func() {
		defer p.caught()
		f()
	})
}

// caught is deferred: it keeps the first panic.
func (p *player) caught() {
	if v := recover(); v != nil {
		text := fmt.Sprint(v)
		if p.crash.CompareAndSwap(nil, &text) {
			close(p.broken)
		}
		p.halt.Store(true)
		p.notify()
	}
}

// crashed reports that a goroutine of the player is no more: its request will have no end.
func (p *player) crashed() bool { return p.crash.Load() != nil }

// rethrow lets the caller have the panic.
func (p *player) rethrow() {
	if text := p.crash.Load(); text != nil {
		panic(*text)
	}
}
