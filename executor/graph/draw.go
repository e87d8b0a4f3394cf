package graph

import (
	"fmt"
	"strings"
)

// Mermaid draws the graph as a Mermaid flow chart: a frame for each group, solid arrows with their
// conditions, dotted arrows for numbers that are read.
func (g *Graph) Mermaid() string {
	var b strings.Builder
	b.WriteString("flowchart TD\n")
	g.visitGroups(func(i int, group string) {
		fmt.Fprintf(&b, "  subgraph g%d[\"%s\"]\n", i, mermaidText(group))
	}, func(i int, n Node, indent string) {
		text := n.ID
		if n.Label != "" {
			text += "\n" + n.Label
		}
		fmt.Fprintf(&b, "  %sn%d[\"%s\"]\n", indent, i, mermaidText(text))
	}, func() { b.WriteString("  end\n") })
	for _, e := range g.edges {
		arrow := "-->"
		if e.Reads {
			arrow = "-.->"
		}
		fmt.Fprintf(&b, "  n%d %s|\"%s\"| n%d\n", g.index[e.From], arrow, mermaidText(e.label()),
			g.index[e.To])
	}
	return b.String()
}

// mermaidText escapes text for use between quotes: Mermaid reads entities, in its own spelling, and
// HTML.
func mermaidText(s string) string {
	return strings.NewReplacer(`"`, "#quot;", "#", "#35;", "<", "#lt;", ">", "#gt;", "&", "#amp;",
		"`", "#96;", "\n", "<br/>").Replace(s)
}

// DOT draws the graph in Graphviz's language.
func (g *Graph) DOT() string {
	var b strings.Builder
	b.WriteString("digraph plan {\n  node [shape=box];\n")
	g.visitGroups(func(i int, group string) {
		fmt.Fprintf(&b, "  subgraph cluster_%d {\n    label=%s;\n", i, dotText(group))
	}, func(_ int, n Node, indent string) {
		fmt.Fprintf(&b, "  %s%s [label=%s];\n", indent, dotText(n.ID),
			dotText(strings.TrimSuffix(n.ID+"\n"+n.Label, "\n")))
	}, func() { b.WriteString("  }\n") })
	for _, e := range g.edges {
		style := ""
		if e.Reads {
			style = ", style=dashed"
		}
		fmt.Fprintf(&b, "  %s -> %s [label=%s%s];\n", dotText(e.From), dotText(e.To),
			dotText(e.label()), style)
	}
	b.WriteString("}\n")
	return b.String()
}

// label returns the text at an edge of a drawing.
func (e Edge) label() string {
	if e.Reads {
		return e.Reason
	}
	return e.When
}

// dotText quotes a string for DOT, which knows two escapes and takes all other characters
// literally.
func dotText(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

// visitGroups visits all nodes, those of one group between begin and end.
func (g *Graph) visitGroups(begin func(i int, group string), node func(i int, n Node, indent string),
	end func(),
) {
	group := ""
	for i, n := range g.nodes {
		if n.Group != group && group != "" {
			end()
		}
		indent := ""
		if n.Group != "" {
			if indent = "  "; n.Group != group {
				begin(i, n.Group)
			}
		}
		group = n.Group
		node(i, n, indent)
	}
	if group != "" {
		end()
	}
}
