package expression

// The codes of the diagnostics that this package reports.
const (
	codeSyntax   = "expression-syntax"
	codeLiteral  = "invalid-literal"
	codeChained  = "chained-comparison"
	codeTooLong  = "expression-too-long"
	codeName     = "unknown-metric"
	codeStat     = "unknown-statistic"
	codeVariable = "unknown-variable"
	codeText     = "text-in-expression"
	codeType     = "type-mismatch"
	codeConstant = "constant-expression"
	codeVacuous  = "never-in-doubt"
	codeResult   = "not-a-condition"
)

// The limits of one expression. They keep the parser's recursion, which nothing can recover, far from its end.
const (
	maxBytes = 4096
	maxDepth = 64 // brackets and signs around one operand
)
