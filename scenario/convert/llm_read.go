package convert

import (
	"strings"

	"github.com/sluice-bench/sluice/scenario/source"
)

// convert reads the options, with those of a file of settings, and writes the plan; usual is the name of
// one without a model.
func (l *llm) convert(usual string, settings func(*source.Node) []setting, finish func()) (
	Converted, source.Diagnostics,
) {
	l.config = func(list []given) []given { return l.settle(list, settings) }
	l.read()
	l.authorize(&l.server.headers)
	if l.help.usage || l.help.version {
		return Converted{Line: l.text, Usage: l.help.usage, Version: l.help.version}, nil
	}
	if !l.doubtful {
		finish()
	}
	if l.diags.HasErrors() {
		return Converted{Line: l.text}, l.mistakes()
	}
	l.out.Line, l.out.Plan, l.out.places = l.text, l.plan(usual), l.places()
	l.out.Secrets = l.used
	return l.out, l.mistakes()
}

// subcommand takes the first argument, where it is a word; else the usual one is meant. The name of a YAML
// file alone is a file of settings.
func (l *llm) subcommand(usual string) string {
	if len(l.args) == 0 || strings.HasPrefix(l.args[0], "-") || isSettings(l.args[0]) {
		return usual
	}
	l.skip = 1
	return l.args[0]
}

func isSettings(name string) bool {
	return strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml")
}

// withSettings puts --config before the name of a file of settings that comes first.
func withSettings(args []string) []string {
	if len(args) > 0 && isSettings(args[0]) {
		return append([]string{"--config"}, args...)
	}
	return args
}
