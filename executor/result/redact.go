package result

// Redact applies mask to every text of r that can hold words of the plan, the server or the system. Names, units,
// verdicts and numbers are left alone: they are the file's structure, and a secret of one letter must not break it.
// Plan.Resolved and Plan.Vars are masked where they are made.
func (r *Result) Redact(mask func(string) string) {
	text := func(s *string) { *s = mask(*s) }
	text(&r.Plan.Description)
	text(&r.Reason)
	for k, v := range r.Plan.Labels {
		r.Plan.Labels[k] = mask(v)
	}
	assertions := func(list []Assertion) {
		for i := range list {
			text(&list[i].Description)
			text(&list[i].That)
			text(&list[i].Reason)
		}
	}
	assertions(r.Assertions)
	for _, n := range r.Nodes {
		text(&n.Reason)
		text(&n.Load.Model)
		text(&n.Description)
		for k, v := range n.Labels {
			n.Labels[k] = mask(v)
		}
		for i := range n.Errors {
			text(&n.Errors[i].Example)
		}
		for i := range n.Validity.Findings {
			text(&n.Validity.Findings[i].Text)
		}
		assertions(n.Assertions)
	}
}
