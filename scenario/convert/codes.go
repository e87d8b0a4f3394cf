package convert

// Codes of the diagnostics of this package; scenario/source explains them.
const (
	codeOption   = "unknown-option"
	codeArgument = "stray-argument"
	codeValue    = "option-value"
	codeClash    = "options-clash"
	codeNeeds    = "option-missing"
	codeNoEqual  = "no-equal"
	codeFile     = "file-missing"
	codeEffect   = "no-effect"
	codeVariable = "shell-variable"
)
