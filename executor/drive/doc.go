// Package drive plays a schedule or a profile on lanes. It owns the pacer, the slots and their
// supervisor. It computes no statistics, reaches no verdict and does not decide when to stop: it
// obeys Control.
//
// # Players
//
// Open sends each arrival of a schedule at its due time, whatever the replies do. Closed keeps as
// many requests in flight as a profile says. Both return when every request that was sent has been
// answered and Put. They close all lanes, those given and those opened: only so does a lane's
// waiting Recv end.
//
// # Lanes and slots
//
// A lane carries Limits.Depth requests at once. A slot is room for one request on a lane; a lane
// with several slots is shared, and a mux keeps its sends and receives apart. One request passes a
// slot in this order:
//
//	step       what happens                                        Open                  Closed
//	due        the arrival gets a call, a slot and a sample        pacer                 worker
//	take       the request becomes the slot's one in flight        pacer                 worker
//	send       Lane.Send                                           pacer, lane's own     worker
//	receive    Lane.Recv, until the request has ended              lane's own, reader    worker, reader
//	finish     the sample is Put                                   lane's own            worker, reader
//	idle       the slot returns to the ring of idle slots          lane's own            (worker goes on)
//
// "Lane's own" is the goroutine of an open loop that each slot has; "reader" is the one goroutine
// that receives on a shared lane. A timeout counts from the due time: an arrival that waited for a
// slot has less of it left on the wire. Requests have no timers: the supervisor scans all slots
// every scanPeriod.
//
// An arrival that finds no idle slot
//
//	pool may still open lanes          waits; the lateness is the client's own
//	pool is full, Drop                 is dropped and counted
//	pool is full, else                 waits; the wait is the server's (Sample.Free)
//	pool is full, other pools exist    waits in the pool's backlog while the pacer goes on
//
// # End of a player
//
//	schedule, feed or Limit exhausted   nothing more is sent; the drain begins
//	Control.StopAt reached              what is due before it is still sent; the drain begins at StopAt
//	drain over                          waiting arrivals are dropped; requests end with CauseDrain
//	ctx done                            the same at once, with CauseStop
//	panic of a goroutine                the same at once; Open or Closed panics in turn
//	cancelled, no end after stuckAfter  the lane is closed
//
// # Sequences
//
// A sequence has one request in flight, on one slot, and its steps in order (see load.Sequences):
//
//	player                 who sends the next step
//	Closed                 the slot's worker, when the step before is answered
//	Open                   the pacer, at an arrival, on the slot that has been idle longest
//	Open, PipelineDepth    the same, even if steps before it are unanswered
//	Open, ArrivalBegins    the goroutine that received the step before; an arrival sends the first
//
// Each sequence that began on the server is ended there. The requests for that are not measured
// (backends.Closing):
//
//	the last request was                  then
//	answered                              the sequence is over
//	sent, without reply                   the same request again, without START
//
//	another request was                   then
//	answered, even if unexpectedly        the sequence goes on
//	failed, or stopped                    the steps to come are dropped; END is sent
//	never sent, and it was the first      the steps to come are dropped
//	the last before its slot was closed
//	or the player ended                   END is sent
package drive
