package result

import (
	"fmt"
	"sort"
	"strings"
)

// Scrape holds the readings of a Prometheus endpoint of a target during a node: at its start, every
// `every`, and at its end.
type Scrape struct {
	Target  string    `json:"target" redact:"yes"`
	URL     string    `json:"url,omitempty" redact:"yes"`
	At      []float64 `json:"at"`                // s since hold start
	Repeats []int     `json:"repeats,omitempty"` // by reading: index of the repeat, if the node repeats
	// Edges are the parts of hold that the node reports, and Outside says, by reading, which were taken
	// outside of them: they only tell what counters were at the edges.
	Edges   []ScrapeEdge `json:"edges,omitempty"`
	Outside []bool       `json:"outside,omitempty"`
	Series  []Scraped    `json:"series"`
	// Missing counts the readings beyond the number kept: a part of them is no evidence.
	Missing int `json:"missing,omitempty"`
	// Unread counts failed readings if those of the start or the end are among them, so that the
	// values at that time are unknown.
	Unread int `json:"unread,omitempty"`
}

// ScrapeEdge is the part of hold that a node, or one of its repeats, reports; in s since hold start.
type ScrapeEdge struct {
	Repeat int     `json:"repeat,omitempty"` // index, if the node repeats
	From   float64 `json:"from"`
	To     float64 `json:"to"`
}

// endpoint names the endpoint in reasons.
const endpoint = "the metrics endpoint"

// LacksScrape reports whether an assertion has no data because a metrics endpoint does not show it,
// which more time would not change.
func (a Assertion) LacksScrape() bool { return strings.Contains(a.Reason, endpoint) }

// Scraped is one series of an endpoint.
type Scraped struct {
	Name   string            `json:"name" redact:"yes"`
	Labels map[string]string `json:"labels,omitempty" redact:"yes"`
	Type   string            `json:"type" redact:"yes"` // counter gauge summary histogram untyped
	Values []*float64        `json:"values"`            // one for each reading; null: missing, no number
}

// String formats a series as Prometheus does.
func (s *Scraped) String() string {
	var labels []string
	for name, value := range s.Labels {
		labels = append(labels, fmt.Sprintf("%s=%q", name, value))
	}
	sort.Strings(labels)
	if labels == nil {
		return s.Name
	}
	return s.Name + "{" + strings.Join(labels, ",") + "}"
}
