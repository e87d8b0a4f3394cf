package result

// Meaning explains one word of a result.
type Meaning struct{ Word, Text string }

// Verdicts explains each verdict of an assertion.
func Verdicts() []Meaning {
	return []Meaning{
		{
			string(Pass),
			"It is true, with enough samples, on a valid measurement. Nothing else is ever shown as pass.",
		},
		{string(Fail), "It is false, with enough samples or already certain."},
		{
			string(Inconclusive),
			"Neither is proven: no data, too few samples for that percentile, a measurement that is not " +
				"stable or not valid, or bounds on both sides of the limit. The reason says what would " +
				"be needed.",
		},
		{string(ErrorVerdict), "The expression could not be evaluated."},
		{string(Skipped), "Its stage did not run; the cause is named there."},
		{string(Interrupted), "The run was ended from outside before it could be judged."},
	}
}

// Outcomes explains each outcome of a node.
func Outcomes() []Meaning {
	return []Meaning{
		{string(Done), "The node ran to its end and its measurement is valid."},
		{
			string(SkippedNode),
			"The node did not run: a stage that it needs failed, or `when` says so. The reason names the " +
				"cause.",
		},
		{string(Unstable), "With `until: stable`, the windows never agreed within what is allowed."},
		{string(Invalid), "The measurement shows this client rather than the server; see its findings."},
		{
			string(InterruptedNode),
			"The node ended early: a signal, max_duration or an abort. Its result is partial.",
		},
		{string(Failed), "The node could not be set up: its target could not be reached, or refused."},
	}
}

// Severities explains each severity of a finding.
func Severities() []Meaning {
	return []Meaning{
		{
			Invalidating,
			"The finding makes the measurement invalid: its assertions are inconclusive, and the run " +
				"exits with 5.",
		},
		{
			Bounding,
			"The finding makes numbers intervals, with a low and a high bound. An assertion that the " +
				"bounds leave open is inconclusive, and the run exits with 5.",
		},
		{Note, "The finding is worth knowing and puts no doubt on the numbers."},
	}
}
