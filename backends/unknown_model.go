package backends

import "fmt"

// UnknownModelError is the error of a server that is live and does not know a model, or a version of it: waiting does not help.
type UnknownModelError struct {
	Model, Version string   // Version "": the model as a whole
	ServerText     string   // in the server's words; "": it said no more
	Known          []string // the models, or the versions of the model, that the server has; nil: it does not say
}

func (e *UnknownModelError) Error() string {
	text := fmt.Sprintf("the server does not know model %q", e.Model)
	if e.Version != "" {
		text = fmt.Sprintf("the server does not know version %s of model %q", e.Version, e.Model)
	}
	if e.ServerText != "" {
		text += ": " + e.ServerText
	}
	return text
}
