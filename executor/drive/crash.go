package drive

import "fmt"

// A panic in a goroutine of the player (a lane, a source, a schedule) would end the process and
// lose all measurements. It ends the player instead: nothing more is sent, requests in flight are
// cancelled, lanes are closed, and Open or Closed panics in its caller's goroutine.

// spawn runs f in a goroutine that closeLanes waits for.
func (p *player) spawn(f func()) {
	p.group.Go(func() {
		defer p.recoverPanic()
		f()
	})
}

// recoverPanic is deferred by each goroutine and keeps the first panic.
func (p *player) recoverPanic() {
	if v := recover(); v != nil {
		text := fmt.Sprint(v)
		if p.firstPanic.CompareAndSwap(nil, &text) {
			close(p.panicked)
		}
		p.halt.Store(true)
		p.notify()
	}
}

// crashed reports whether a goroutine of the player has panicked: its request will not end.
func (p *player) crashed() bool { return p.firstPanic.Load() != nil }

// rethrow panics with the text of the first panic, if any.
func (p *player) rethrow() {
	if text := p.firstPanic.Load(); text != nil {
		panic(*text)
	}
}
