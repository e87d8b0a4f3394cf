package result

// Redact applies mask to every text of r that can contain words of the plan, the server or the
// system. Names, units, verdicts and numbers are not changed: they are the structure of the file,
// and a secret of one letter must not break it. Plan.Resolved and Plan.Vars are masked where they
// are made.
func (r *Result) Redact(mask func(string) string) {
	m := redactor(mask)
	m.texts(&r.Plan.Description, &r.Reason)
	m.labels(r.Plan.Labels)
	for i := range r.Clients {
		m.texts(&r.Clients[i].Summary)
	}
	m.assertions(r.Assertions)
	for _, n := range r.Nodes {
		n.Redact(mask)
	}
}

// Redact masks the texts of one node. It may be applied repeatedly.
func (n *Node) Redact(mask func(string) string) {
	m := redactor(mask)
	m.texts(&n.Reason, &n.Load.Model, &n.Load.Formula, &n.Description, &n.Validity.Summary)
	m.labels(n.Labels)
	m.errors(n.Errors)
	m.findings(n.Validity.Findings)
	m.assertions(n.Assertions)
	m.assertions(n.While)
	m.scopes(n.Scopes)
	for i := range n.Repeats {
		repeat := &n.Repeats[i]
		m.texts(&repeat.Reason)
		m.findings(repeat.Findings)
		m.scopes(repeat.Scopes)
	}
	for i := range n.Scrapes {
		m.texts(&n.Scrapes[i].Target)
		for k := range n.Scrapes[i].Series {
			x := &n.Scrapes[i].Series[k]
			m.texts(&x.Name, &x.Type)
			m.labels(x.Labels)
		}
	}
	for i := range n.Models {
		m.texts(&n.Models[i].Name, &n.Models[i].CalledBy)
	}
	for i := range n.Trials {
		m.texts(&n.Trials[i].Reason)
		m.assertions(n.Trials[i].While)
	}
	if n.Aborted != nil {
		m.texts(&n.Aborted.Reason)
	}
}

type redactor func(string) string

func (m redactor) texts(all ...*string) {
	for _, s := range all {
		*s = m(*s)
	}
}

func (m redactor) labels(labels map[string]string) {
	for k, v := range labels {
		labels[k] = m(v)
	}
}

func (m redactor) errors(list []ErrorClass) {
	for i := range list {
		m.texts(&list[i].Example)
		for j := range list[i].More {
			m.texts(&list[i].More[j])
		}
	}
}

func (m redactor) findings(list []Finding) {
	for i := range list {
		m.texts(&list[i].Text)
	}
}

func (m redactor) assertions(list []Assertion) {
	for i := range list {
		m.texts(&list[i].Description, &list[i].That, &list[i].Reason)
	}
}

func (m redactor) scopes(list []Scope) {
	for i := range list {
		m.texts(&list[i].Model)
		m.errors(list[i].Errors)
	}
}
