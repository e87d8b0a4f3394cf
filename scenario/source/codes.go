package source

// Code is a diagnostic code and what it means: what `explain` says about it. The codes are stable:
// tests and editors may rely on them.
type Code struct{ Name, Help string }

// Codes lists the codes of every diagnostic there is, over all packages; a test finds each in the code.
func Codes() []Code {
	return []Code{
		{"alias-loop", "A YAML alias is used inside what it names. Write the value out."},
		{
			"all-holds",
			"The ramp has several holds, and the metric is taken over all of them together. " +
				"phase(\"name\") takes one.",
		},
		{
			"ambiguous",
			"YAML versions read this scalar differently (010, 0x1F, 1_000, .5, True). Write it " +
				"plainly, or in quotes if it is text.",
		},
		{
			"axis-clash",
			"Two nodes of a stage would have one name: points of a matrix with the same values, " +
				"or an axis named like its levels.",
		},
		{"bad-baseline", "The baseline is not a result.json that this version can read."},
		{"bad-character", "The file holds a byte that YAML does not allow, such as a NUL or broken UTF-8."},
		{"bad-duration", "A duration is a number with a unit: 50ms, 1.5s, 1h30m."},
		{"bad-name", "A name has characters that names here cannot have."},
		{"bad-number", "A number is not finite or too long: .inf, .nan, 1e500."},
		{"bad-rate", "A rate is a number for a time: 200/s, 90/min, 12/h."},
		{"bad-ratio", "A ratio is written in percent: 0.1%, 95%."},
		{"bad-size", "A size is a number with a unit: 512B, 64MiB, 1MB."},
		{"bad-span", "A span is a duration or a count: 60s, 1000 requests."},
		{
			"bad-target",
			"The target cannot be opened as it stands: a TLS file that cannot be read, or keys " +
				"that contradict each other.",
		},
		{
			"bad-text",
			"The text is empty or not in the form that the key wants (an id, a path, an " +
				"expression).",
		},
		{"bad-yaml", "The file is not YAML at this place."},
		{
			"batch",
			"The batch does not fit the model: it takes none, fewer, or the rows of a batch " +
				"differ in shape.",
		},
		{
			"beyond-this-machine",
			"The load is more than `sluice calibrate` has seen this machine drive, so the client " +
				"may be the bottleneck.",
		},
		{"chained-comparison", "a < b < c is not written so here: write a < b and b < c."},
		{"column", "A column that `columns` names is in no row, or the request has no place for it."},
		{"constant-expression", "The condition reads no metric, so it would always give the same answer."},
		{
			"data-file",
			"A data file cannot be read: it is missing, broken, or not in the form that its name, " +
				"its content or `format` says.",
		},
		{
			"data-size",
			"The data that the plan asks for does not fit into memory: lower `count`, `batch` or " +
				"`shapes`.",
		},
		{"datatype", "The model has an input of a datatype that is not known here."},
		{
			"does-not-fit",
			"The key is right elsewhere but not beside the other keys here (arrivals with " +
				"concurrency, builtin without builtin://).",
		},
		{"duplicate-key", "A key is given twice in one map. Only one can count, so the plan is refused."},
		{"duplicate-level", "A level is given twice in one list."},
		{"duplicate-name", "Two things have one name: stages, assertions."},
		{"empty-list", "The list needs at least one item."},
		{"empty-plan", "The file holds no plan: it is empty or all comments."},
		{"exactly-one-of", "Exactly one key of a set is needed, and there is none, or there are several."},
		{"expression-syntax", "The expression cannot be read at this place."},
		{"expression-too-long", "The expression is longer or deeper than 4 KiB or 64 brackets."},
		{"extends-cycle", "Plans extend each other in a circle, so none can be the base."},
		{"few-requests", "The stage sends fewer than three requests for each that is in flight."},
		{
			"few-samples",
			"The node will send fewer requests than a percentile, or a ratio with `confidence`, " +
				"needs to be proven; the verdict will be inconclusive.",
		},
		{"file-missing", "A file that the plan or the command line names is not there or cannot be read."},
		{
			"generate",
			"An input cannot be generated as the plan says: its shape is open, or the values do " +
				"not fit its datatype.",
		},
		{
			"goodput-bound",
			"A bound of goodput names a metric that every request has a value of, and a limit in " +
				"its unit.",
		},
		{"invalid-header", "A header's name or value holds characters that HTTP does not allow."},
		{
			"invalid-levels",
			"The values of a quantity do not make a ladder: from, to, step or factor contradict " +
				"each other.",
		},
		{"invalid-literal", "A number or unit in an expression is not one: 50ms, 200/s, 0.1%, 64MiB are."},
		{"invalid-matrix", "The axes of a matrix make no list of different points, or too many."},
		{"invalid-url", "The URL is none that can be reached: scheme, host or path."},
		{"invalid-value", "The value cannot be read as what the key wants (a duration, a rate, a word …)."},
		{"key-not-read", "The target's backend does not read this key, so it would change nothing."},
		{
			"key-not-text",
			"A key of a map is not text, nor a number that is written plainly. Put it in quotes.",
		},
		{
			"load-from-result",
			"A load that comes from an earlier result has the wrong dimension: a rate wants a " +
				"rate, concurrency a count.",
		},
		{
			"max-in-flight-too-low",
			"At a latency that an assertion allows, more requests are open than `max_in_flight` " +
				"lets through.",
		},
		{"may-be-skipped", "The assertion is on a stage that a good run skips, or the stage needs one."},
		{"merge-key", "YAML's merge key << is not part of plans. Put what stages share under `defaults`."},
		{"metric-clash", "Two metrics of one target have the same name."},
		{"missing-key", "A required key is not there."},
		{"missing-tensor", "A row of the data lacks an input that the model needs."},
		{"needs-cycle", "The stages need each other in a circle, so none can be first."},
		{
			"never-in-doubt",
			"The comparison has the same outcome whatever is measured: errors.ratio < 150%, " +
				"requests.count >= 0.",
		},
		{
			"never-proven",
			"No number of requests can prove the assertion with its `confidence`: a share that " +
				"must be exactly 0% or 100%.",
		},
		{"never-reached-concurrency", "The stage sends fewer requests than it wants in flight."},
		{
			"never-runs",
			"The stage can never run: what it needs never fails, or its failure stops this stage " +
				"too.",
		},
		{
			"no-binary-tensors",
			"The server does not list the binary tensor extension; it may refuse raw tensors over " +
				"HTTP.",
		},
		{
			"no-classes",
			"Classes are asked for in place of an output, and none can be had: of this backend or " +
				"server, of this datatype, or in shared memory.",
		},
		{
			"no-drain",
			"`drain: 0s` cancels what is open at the end of a closed loop, so that an assertion " +
				"which allows fewer errors than that is never certain.",
		},
		{
			"no-drop-limit",
			"The load drops requests (`overflow: drop`), and no gate limits how many: what was " +
				"dropped is no error, and in no latency.",
		},
		{"no-effect", "A key is allowed here, and nothing follows from it."},
		{
			"no-equal",
			"An option of another load generator says something that a plan cannot. The converted " +
				"plan names it in a comment.",
		},
		{
			"no-error-limit",
			"The condition names errors and is not false when every request fails, so it limits " +
				"none, and errors.count == 0 is asked besides: errors.count <= requests.count. " +
				"`errors.ratio <= 100%` allows any share of errors.",
		},
		{"no-inputs", "The server's metadata lists no inputs for the model, so no request can be made."},
		{"no-model-control", "The target's backend cannot load and unload models."},
		{"no-shared-memory", "The target's backend cannot share memory with its server."},
		{
			"no-window",
			"`every` or `within` judge windows, and the metric has one value for the whole stage: " +
				"in_flight.max, offered.rate, client.cpu, what the server counts.",
		},
		{"not-a-condition", "The expression is a number, not a condition: compare it with something."},
		{
			"not-a-plan",
			"The file is no plan: it has none of the keys that begin one. Nothing of it is shown, " +
				"as it may be any file.",
		},
		{"not-allowed", "The word is none of those allowed here."},
		{
			"not-asked-for",
			"The data expects an output that the request does not ask for: it is not compared. " +
				"Add it to `outputs`.",
		},
		{"not-built-yet", "The key or word is part of the language, but this version cannot run it."},
		{"not-checked", "The plan could not be checked against its schema. This is a mistake in sluice."},
		{
			"not-watchable",
			"`abort` watches a condition that is never certainly false before the stage is over: " +
				"on a mean, a rate, what the server counts, or a limit that only the end can break.",
		},
		{
			"nothing-expected",
			"Outputs are to be compared within tolerances, and no row of the data has outputs to " +
				"compare with: nothing could fail.",
		},
		{
			"nothing-reads",
			"A file of data has members that nothing reads. Remove them, or correct their names.",
		},
		{"null-value", "A key has no value. Leave the key out, or give it one."},
		{"option-missing", "An option of a command line needs another one that is not there."},
		{
			"option-value",
			"The value of an option of a command line is missing, or none that the option takes.",
		},
		{"options-clash", "Two options of a command line do not go together."},
		{"out-of-range", "The value is read but lies outside what makes sense here."},
		{
			"overlay-matches-nothing",
			"A profile, or a plan that extends another, changes what is not there: a stage, a " +
				"variable, a key that null should remove.",
		},
		{"parameter", "A row gives a request parameter that is no text, number or bool."},
		{"ramp-cut", "The stage ends before its ramp does."},
		{
			"recorded-times",
			"A file of gaps or times cannot be read: it is missing, not a number, not ascending, " +
				"or empty.",
		},
		{"request", "A request cannot be encoded for the target's protocol."},
		{"rows-left-over", "With `at_end: stop`, the last rows do not fill a batch and are not sent."},
		{"scheme", "The backend does not speak this URL scheme."},
		{"second-document", "The file holds a second YAML document. One file is one plan."},
		{
			"sequences",
			"The stage wants sequences that it does not have, or has some that cannot be sent so: " +
				"in batches, by a backend without them, with too few ids.",
		},
		{"set-matches-nothing", "--set names a path that the plan does not have."},
		{
			"shell-variable",
			"A variable of a shell is part of a command line that no shell has read. It stays as " +
				"it stands.",
		},
		{
			"short-secret",
			"A secret of fewer than 6 characters is masked only where it is a word of its own: in " +
				"every text it would hide much else. Use a longer one.",
		},
		{
			"stability-metric",
			"`until: stable` cannot watch this: it is unknown, or not known for a window.",
		},
		{"stray-argument", "An argument of a command line belongs to no option."},
		{"tab-indentation", "YAML indents with blanks; a tab comes before the text."},
		{"tensor", "A tensor of the data does not fit the model: datatype, shape or number of elements."},
		{
			"text-in-expression",
			"A text is written where a number with a unit is wanted. Text never changes the meaning " +
				"of an expression.",
		},
		{
			"timestamps",
			"The rows of the data do not say when they are due: a timestamp is missing, no " +
				"number, or before the one in front of it.",
		},
		{"tls-not-used", "The target has `tls`, but its URL is not a secure one."},
		{"too-deep", "The plan is nested deeper than 100 levels."},
		{
			"too-few-connections",
			"More requests are to be in flight than the connections can carry over HTTP/1.1.",
		},
		{"too-large", "The plan is larger than 1 MiB."},
		{"too-many-aliases", "Aliases would make the plan too large."},
		{"too-many-mistakes", "There are more mistakes than are listed; the listed ones come first."},
		{
			"too-many-nodes",
			"Points of matrices times levels make more than 10,000 nodes, or assertions times " +
				"nodes more than 100,000 verdicts.",
		},
		{
			"type-mismatch",
			"The expression puts together what does not go together, such as a duration and a " +
				"rate.",
		},
		{"unknown-anchor", "A YAML alias names an anchor that is not defined before it."},
		{"unknown-backend", "There is no such backend in this build."},
		{"unknown-key", "The key does not exist here. Nothing that is not understood is ignored."},
		{"unknown-metric", "There is no such metric, or the stage cannot produce it."},
		{"unknown-name", "A stage, target, dataset or slo is named that does not exist."},
		{
			"unknown-option",
			"The other load generator has no such option, or the name is short for several.",
		},
		{"unknown-profile", "--profile names a profile that the plan does not have."},
		{
			"unknown-statistic",
			"The metric has no such statistic: distributions have .p50, .p99, .mean and others, " +
				"values have none.",
		},
		{"unknown-tag", "A YAML tag is not known. Write `not x`, not `!x`."},
		{"unknown-tensor", "The model has no input or output of this name."},
		{"unknown-variable", "A variable is used or set that the plan does not declare."},
		{
			"unquoted-variable",
			"Inside { } and [ ] a ${…} needs quotes, because braces and commas mean something " +
				"there.",
		},
		{
			"unseen-rest",
			"An assertion on windows does not look at the end of its scope, which is no whole " +
				"window.",
		},
		{
			"unsupported-version",
			"The plan is written in a version of the language that this program does not read.",
		},
		{"unused-entry", "An slo or dataset is declared and nothing uses it."},
		{"unused-variable", "A variable is declared and never used."},
		{"variable-syntax", "${…} is not closed or holds no name. A literal ${ is written $${."},
		{"variable-without-value", "A variable has neither a default nor a value from outside."},
		{
			"wrong-type",
			"The value is of another kind than the key wants: a map where a list should be, for " +
				"instance.",
		},
	}
}
