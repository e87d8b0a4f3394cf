package main

import "github.com/sluice-bench/sluice/scenario/language"

// variable is what may stand for any scalar: one ${…}.
const variable = `\$\{.+\}`

// scalarDef is the definition of a type of scalars. One with texts has a pattern; others have types
// besides the string that a variable is.
func scalarDef(s *language.Form) object {
	o := object{{"title", s.Title}, {"description", s.Description}, {"examples", s.Examples}}
	if len(s.Kinds) == 1 {
		o = append(o, member{"type", s.Kinds[0]})
	} else {
		o = append(o, member{"type", s.Kinds})
	}
	switch {
	case s.Pattern != "":
		o = append(o, member{"pattern", `^(` + variable + `|` + s.Pattern + `)$`})
	case s.Kinds[0] != "string":
		o = append(o, member{"pattern", `^` + variable + `$`})
	}
	return o
}
