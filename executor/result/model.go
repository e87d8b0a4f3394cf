package result

// Model holds the server's counters of a model that the stage's own model calls, directly or
// through others.
type Model struct {
	Name     string `json:"name" redact:"yes"`
	Version  string `json:"version,omitempty"`      // "": all versions together, if there are several
	CalledBy string `json:"called_by" redact:"yes"` // the stage's own model, or another in the list
	// Calls is the number of executions per request of the stage's own model; null if unknown.
	Calls   *float64           `json:"calls_per_request"`
	Metrics map[string]*Metric `json:"metrics"` // server.*
}

// Model returns a model that n's own model calls, nil if it was not measured.
func (n *Node) Model(name string) *Model {
	return find(n.Models, func(m *Model) bool { return m.Name == name })
}

// CallDepth counts the calls that lead to m from n's own model.
func (n *Node) CallDepth(m Model) int {
	for depth := 1; ; depth++ {
		caller := n.Model(m.CalledBy)
		if caller == nil || depth > len(n.Models) {
			return depth
		}
		m = *caller
	}
}
