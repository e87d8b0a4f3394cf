package main

import "github.com/sluice-bench/sluice/scenario/language"

// variable is the pattern of a variable, which may replace any scalar: one ${…}.
const variable = `\$\{.+\}`

// scalarDef is the definition of a type of scalars. One with texts has a pattern; others have types
// besides the string that a variable is.
func scalarDef(f *language.Form) object {
	o := object{{"title", f.Title}, {"description", f.Description}, {"examples", f.Examples}}
	if len(f.Kinds) == 1 {
		o = append(o, member{"type", f.Kinds[0]})
	} else {
		o = append(o, member{"type", f.Kinds})
	}
	switch {
	case f.Pattern != "":
		o = append(o, member{"pattern", `^(` + variable + `|` + f.Pattern + `)$`})
	case f.Kinds[0] != "string":
		o = append(o, member{"pattern", `^` + variable + `$`})
	}
	return o
}
