package result

import "slices"

// Model is what the server counted of a model that the stage's own model calls, itself or through others.
type Model struct {
	Name     string `json:"name"`
	Version  string `json:"version,omitempty"` // "": all versions together, where there are several
	CalledBy string `json:"called_by"`         // the stage's own model, or another of the list
	// Calls is how often it ran for one request of the stage's own model; null where that is not known.
	Calls   *float64           `json:"calls_per_request"`
	Metrics map[string]*Metric `json:"metrics"` // server.*
}

// Model finds a model that n's own calls; nil: it was not measured.
func (n *Node) Model(name string) *Model {
	i := slices.IndexFunc(n.Models, func(m Model) bool { return m.Name == name })
	if i < 0 {
		return nil
	}
	return &n.Models[i]
}

func (m Model) whole() Model {
	m.Metrics = filled(m.Metrics)
	return m
}
