package scenario

// The codes of the diagnostics that this package reports, besides those of source and schema.
const (
	codeValue       = "invalid-value"
	codeType        = "wrong-type"
	codeNoPlan      = "not-a-plan"
	codeRange       = "out-of-range"
	codeNotBuilt    = "not-built-yet"
	codeUnknownKey  = "unknown-key"
	codeUnknownName = "unknown-name"
	codeDuplicate   = "duplicate-name"
	codeExactlyOne  = "exactly-one-of"
	codeDoesNotFit  = "does-not-fit"
	codeMissing     = "missing-key"
	codeNull        = "null-value"
	codeSet         = "set-matches-nothing"
	codeShortSecret = "short-secret"
	codeVarMissing  = "variable-without-value"
	codeVarUnknown  = "unknown-variable"
	codeVarUnused   = "unused-variable"
	codeIdle        = "unused-entry"
	codeNoEffect    = "no-effect"
	codeVarSyntax   = "variable-syntax"
	codeURL         = "invalid-url"
	codeHeader      = "invalid-header"
	codeFile        = "file-missing"
	codeTLSUnused   = "tls-not-used"
	codeLevels      = "invalid-levels"
	codeTooMany     = "too-many-nodes"
	codeVersion     = "unsupported-version"
	codeExtends     = "extends-cycle"
	codeProfile     = "unknown-profile"
	codeOverlay     = "overlay-matches-nothing"
	codeMatrix      = "invalid-matrix"
)

// The limits that keep a typing slip from becoming a denial of service.
const (
	maxSlots  = 65536      // requests in flight
	maxRate   = 10_000_000 // requests a second
	maxLevels = 1000       // values of one quantity
	maxSteps  = 1000       // of one ramp
)
