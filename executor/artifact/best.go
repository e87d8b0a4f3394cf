package artifact

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/executor/artifact/clean"
	"github.com/sluice-bench/sluice/executor/result"
)

// bestGrid returns one row per node of a stage of which the best is asked for, in their order.
func bestGrid(r *result.Result) grid {
	g := grid{header: []string{"rank", "node", "value", "conditions", "best\nminus this", "by chance"}}
	for _, b := range r.Best {
		for _, x := range b.Ranking {
			value, apart, chance := noNumber, "", ""
			if x.Value != nil {
				value = result.Format(b.Unit, *x.Value)
			}
			if d := x.Difference; d != nil {
				apart = result.Format(b.Unit, d.Value)
				if d.Low != nil && d.High != nil {
					apart += fmt.Sprintf(" (%s … %s)", result.Format(b.Unit, *d.Low), result.Format(b.Unit, *d.High))
				}
				if chance = "no"; !d.Apart {
					chance = "perhaps"
				}
			}
			where := map[result.Verdict]string{result.Pass: "hold", result.Fail: "false"}[x.Where]
			g.rows = append(g.rows, []string{
				whole(int64(x.Rank)), clean.Line(x.Node), value, cmp.Or(where, "not proven"), apart, chance,
			})
		}
	}
	g.dropEmpty(5)
	g.dropEmpty(4)
	return g
}

// dropEmpty removes a column without a text.
func (g *grid) dropEmpty(column int) {
	for _, row := range g.rows {
		if row[column] != "" {
			return
		}
	}
	g.header = append(g.header[:column], g.header[column+1:]...)
	for i, row := range g.rows {
		g.rows[i] = append(row[:column], row[column+1:]...)
	}
}

// rankOf returns the rank of a node in its stage, "" without one.
func rankOf(r *result.Result, node string) string {
	for _, b := range r.Best {
		for _, x := range b.Ranking {
			if x.Node == node {
				return whole(int64(x.Rank))
			}
		}
	}
	return ""
}

var notInFileName = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// Configured names a model that a stage, which asks for its best node, loads with configurations.
type Configured struct{ Stage, Model string }

// configNames returns the names of the files with the configurations of the best nodes, in the order of
// Options.Configured: config.pbtxt, as in the server's model repository, or, where there are several, with the
// stage and the model in the name. They do not depend on how the run ends, so that a file in the way is found
// before it.
func (o Options) configNames() (names []string) {
	if len(o.Configured) == 1 {
		return []string{configName}
	}
	for i, c := range o.Configured {
		name := notInFileName.ReplaceAllString(c.Stage+"-"+c.Model, "_")
		if slices.Contains(names, configPrefix+name+configSuffix) { // they differ in odd characters only
			name += fmt.Sprintf("-%d", i+1)
		}
		names = append(names, configPrefix+name+configSuffix)
	}
	return names
}

// Names of configurations: that of a repository of Triton, and where there are several.
const (
	configName   = "config.pbtxt"
	configPrefix = "config-"
	configSuffix = ".pbtxt"
)

// bestConfigurations returns the files with the configurations of the models of the best nodes.
func bestConfigurations(r *result.Result, o Options) (files []file) {
	names := o.configNames()
	for _, b := range r.Best {
		for _, n := range r.Nodes {
			if b.Node == "" || n.ID != b.Node {
				continue
			}
			for _, c := range n.Configurations {
				if i := slices.Index(o.Configured, Configured{b.Stage, c.Model}); i >= 0 {
					comment := fmt.Sprintf("# %s: %s\n", clean.Line(b.Node), clean.Line(b.Text))
					files = append(files, file{Name: names[i], Data: []byte(comment + c.Text)})
				}
			}
		}
	}
	return files
}

// isConfigName reports whether a file may be the configuration of a best node.
func isConfigName(name string) bool {
	return name == configName || strings.HasPrefix(name, configPrefix) && strings.HasSuffix(name, configSuffix)
}
