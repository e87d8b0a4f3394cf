package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/all"
	"github.com/sluice-bench/sluice/scenario/source"
	"github.com/sluice-bench/sluice/schema"
)

// initFlags are the flags of init.
type initFlags struct {
	purpose, backend, url, model, out string
	schema, force                     bool
}

func (a *app) init() *cobra.Command {
	f := initFlags{purpose: purposes()[0].name, backend: "triton", url: "builtin://http"}
	var names []string
	var help, example strings.Builder
	for _, p := range purposes() {
		names = append(names, p.name)
		fmt.Fprintf(&help, "  %-9s %s\n", p.name, p.help)
		if p.name != f.purpose {
			fmt.Fprintf(&example, "\n  sluice init --for %s --out %s.yaml", p.name, p.name)
		}
	}
	c := &cobra.Command{
		Use:   "init",
		Short: "Write a commented plan for a server, which is asked",
		Long: "Write a plan with limits to edit. When the server answers, its inputs are in\nthe plan with their shapes; when it does not, the plan is written without them\nand says why.\n\n" +
			"Purposes\n" + help.String() + "\n" +
			"Beside FILE, " + schemaFile + " is written, the schema of plans, which the first\nline of the plan names: editors with yaml-language-server complete and check\nplans by it. Keep it with the plan.",
		Example: "  sluice init --url grpc://localhost:8001 --model resnet50 --out plan.yaml" + example.String(),
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.writePlan(c.Context(), f)
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	c.Flags().StringVar(&f.purpose, "for", f.purpose, "`PURPOSE` of the plan: "+strings.Join(names, ", "))
	c.Flags().StringVar(&f.backend, "backend", f.backend, "`KIND` of server: "+strings.Join(kindsByURL(), ", "))
	c.Flags().StringVar(&f.url, "url", f.url, "`URL` of the server; builtin://http needs none")
	c.Flags().StringVar(&f.model, "model", "", "`NAME` of the model (default one that fits, with builtin://)")
	c.Flags().StringVar(&f.out, "out", "", "`FILE` to write (default standard output)")
	c.Flags().BoolVar(&f.schema, "schema", true, "write "+schemaFile+" beside FILE")
	c.Flags().BoolVar(&f.force, "force", false, "overwrite FILE")
	offer(c, "for", oneOf(names))
	offer(c, "backend", oneOf(kindsByURL()))
	offer(c, "url", schemesOf(&f.backend))
	offer(c, "model", cobra.NoFileCompletions)
	offer(c, "out", completePlan)
	return c
}

// kindsByURL names the kinds of backend that init can write a plan for: those that are reached by a URL.
func kindsByURL() []string {
	var names []string
	for _, k := range all.Kinds() {
		if k.Open != nil && k.Schemes != nil {
			names = append(names, k.Name)
		}
	}
	return names
}

// check holds the flags against each other, and gives the model of the embedded server where none is named.
func (f *initFlags) check() (purpose, error) {
	p, ok := purposeOf(f.purpose)
	scheme, _, hasScheme := strings.Cut(f.url, "://")
	kind := backendKind(f.backend)
	embedded := strings.HasPrefix(f.url, "builtin://")
	switch {
	case !ok:
		return p, unknownWord("purpose", f.purpose, purposeNames())
	case kind == nil || !slices.Contains(kindsByURL(), f.backend):
		return p, unknownWord("backend", f.backend, kindsByURL())
	case !hasScheme:
		return p, fmt.Errorf("--url %s has no scheme\nwrite --url http://%s, or --url grpc://%s for gRPC", f.url, f.url, f.url)
	case !embedded && !slices.Contains(kind.Schemes, scheme):
		return p, fmt.Errorf("--url %s: backend %s has no scheme %s://\nallowed: %s://", f.url, f.backend, scheme, strings.Join(kind.Schemes, "://, "))
	case f.model == "" && !embedded:
		return p, fmt.Errorf("--model is needed to write a plan for %s", f.url)
	case f.model == "":
		f.model = p.model
	}
	return p, nil
}

func (a *app) writePlan(ctx context.Context, f initFlags) error {
	p, err := f.check()
	if err != nil {
		return err
	}
	var sig backends.Signature
	var asked error
	if !strings.HasPrefix(f.url, "builtin://") {
		sig, asked = describeModel(ctx, backendKind(f.backend), backends.Target{URL: f.url, Model: f.model, ConnectTimeout: describeTimeout})
		var unknown *backends.UnknownModelError
		if errors.As(asked, &unknown) {
			return fmt.Errorf("%w%s", asked, modelsOf(unknown))
		}
		if p.sequences && asked == nil && sig.Sequence == backends.NoSequences {
			return fmt.Errorf("model %s keeps no state between requests: --for %s needs one with sequence batching", f.model, p.name)
		}
	}
	text, err := p.text(f, sig, asked)
	if err != nil {
		return err
	}
	if f.out == "" {
		_, err := io.WriteString(a.out, text)
		return err
	}
	if err := f.write(text); err != nil {
		return fmt.Errorf("write the plan: %w", err)
	}
	if f.schema {
		a.report("%s written, for editors\n", filepath.Join(filepath.Dir(f.out), schemaFile))
	}
	a.reportWritten(f.out)
	return nil
}

// modelsOf names the models, or the versions of one, that a server has instead.
func modelsOf(unknown *backends.UnknownModelError) string {
	const most = 10
	known, wanted, hint := unknown.Known, cmp.Or(unknown.Version, unknown.Model), ""
	if near := source.Nearest(wanted, known); near != "" {
		hint = fmt.Sprintf("\ndid you mean %q?", near)
	}
	switch {
	case len(known) == 0:
		return ""
	case len(known) > most:
		return fmt.Sprintf("%s\nit has %s and %d more", hint, strings.Join(known[:most], ", "), len(known)-most)
	}
	return hint + "\nit has " + strings.Join(known, ", ")
}

// write writes the plan, and the schema that its first line names.
func (f initFlags) write(text string) error {
	mode := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if f.force {
		mode = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	if f.schema {
		if err := writeSchema(filepath.Join(filepath.Dir(f.out), schemaFile)); err != nil {
			return err
		}
	}
	file, err := os.OpenFile(f.out, mode, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%w (--force overwrites)", err)
	}
	if err != nil {
		return err
	}
	if _, err := file.WriteString(text); err != nil {
		return errors.Join(err, file.Close())
	}
	return file.Close()
}

// schemaFile is the schema of plans beside a plan.
const schemaFile = "sluice.schema.json"

// writeSchema writes the schema of plans, over an older one. A file that is none stays.
func writeSchema(file string) error {
	old, err := os.ReadFile(file)
	switch {
	case err == nil && bytes.Equal(old, schema.Plan()):
		return nil
	case err == nil && !schema.IsPlan(old):
		return fmt.Errorf("%s is in the way: it is no schema of plans\nmove it, or leave the schema out by --schema=false", file)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return os.WriteFile(file, schema.Plan(), 0o644)
}

// backendKind is the kind of backend with a name; nil: there is none.
func backendKind(name string) *backends.Kind {
	for _, k := range all.Kinds() {
		if k.Name == name {
			return &k
		}
	}
	return nil
}

// patience is how long a server has to say what its model takes. One that runs in this process loads its models first, and
// cannot be left halfway.
const (
	describeTimeout = 5 * time.Second
	startTimeout    = 10 * time.Minute
)

// describeModel describes the model of a target.
func describeModel(ctx context.Context, kind *backends.Kind, t backends.Target) (sig backends.Signature, err error) {
	limit := describeTimeout
	if t.InProcess != nil {
		limit = startTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	conn, err := kind.Open(ctx, t, backends.Clock{Origin: time.Now()})
	if err != nil {
		return sig, err
	}
	defer func() {
		if closeErr := conn.Close(ctx); err == nil {
			err = closeErr
		}
	}()
	d, ok := conn.(backends.Describer)
	if !ok {
		return sig, nil
	}
	return d.Describe(ctx, "")
}
