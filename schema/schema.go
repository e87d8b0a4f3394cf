// Package schema holds the JSON Schemas of plans and results and checks documents against them.
//
// It is not: an explainer of meaning, a place that fills in defaults.
package schema
