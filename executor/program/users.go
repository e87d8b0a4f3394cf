package program

import (
	"fmt"

	"github.com/sluice-bench/sluice/scenario"
)

// Users reports whether the load is that of users: a closed loop, each slot of which sends at the rate of the
// load, or later where its request before has not ended.
func (n *Node) Users() bool { return ofUsers(n.Stage) }

func ofUsers(s *scenario.Stage) bool {
	r, is := s.Load.(scenario.Rate)
	return is && r.Of == scenario.OfUsers
}

// hasDueTimes reports whether the load has its requests due at times of their own, and not when a reply has come.
// Rows with a delay can do so too, which only their data tell.
func (n *Node) hasDueTimes() bool {
	c, closed := n.Stage.Load.(scenario.Concurrency)
	return !closed || c.Think != nil
}

// Rated reports whether the amounts of the node's load are rates; else they are requests in flight.
func (n *Node) Rated() bool { return n.Open || n.Users() }

// slotsOf counts the slots of a closed loop at a level.
func slotsOf(n *Node, l scenario.Level) float64 {
	if n.Users() {
		return float64(n.Stage.Sequencing().Live)
	}
	return l.Value
}

// setUsers has a slot for each user.
func (l *Load) setUsers(n *Node, a Amounts) string {
	l.Stored.Kind, l.Stored.MaxInFlight, l.Stored.Overflow = "rate", 0, ""
	l.Slots = n.Stage.Sequencing().Live
	l.Stored.Users = l.Slots
	if a.Level > 0 {
		l.Every = int64(1e9 / a.Level)
	}
	return fmt.Sprintf("%s of each of %d users", quantityText(n), l.Slots)
}
