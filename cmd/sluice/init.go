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

// initFlags holds the flags of init.
type initFlags struct {
	purpose, backend, url, model, out string
	schema, force                     bool
}

func initCommand(a *app) *cobra.Command {
	f := initFlags{purpose: purposes()[0].name, backend: "triton", url: "builtin://http"}
	names := purposeNames()
	var help, example strings.Builder
	for _, p := range purposes() {
		fmt.Fprintf(&help, "  %-9s %s\n", p.name, p.help)
		if p.name != f.purpose {
			fmt.Fprintf(&example, "\n  sluice init --for %s --out %s.yaml", p.name, p.name)
		}
	}
	c := &cobra.Command{
		Use:   "init",
		Short: "Ask a server about its model and write a commented plan",
		Long: "Write a plan with limits to edit. If the server answers, the plan has the inputs of " +
			"the model with their shapes; if not, it is written without them, with the reason.\n\n" +
			"Purposes\n" + help.String() + "\n" +
			"The schema of plans is written to " + schemaFile +
			" in the folder of FILE. The first line of " +
			"the plan names it: editors with yaml-language-server complete and check plans by it. " +
			"Keep it with the plan.",
		Example: "  sluice init --url grpc://localhost:8001 --model resnet50 --out plan.yaml" +
			example.String(),
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.writePlan(c.Context(), f)
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	c.Flags().StringVar(&f.purpose, "for", f.purpose, "`PURPOSE` of the plan: "+strings.Join(names, ", "))
	c.Flags().StringVar(&f.backend, "backend", f.backend,
		"`KIND` of server: "+strings.Join(kindsByURL(), ", "))
	c.Flags().StringVar(&f.url, "url", f.url, "`URL` of the server; builtin://http needs none")
	c.Flags().StringVar(&f.model, "model", "", "`NAME` of the model (default one that fits, with builtin://)")
	c.Flags().StringVar(&f.out, "out", "", "`FILE` to write (default standard output)")
	c.Flags().BoolVar(&f.schema, "schema", true, "write "+schemaFile+" to the folder of FILE")
	c.Flags().BoolVar(&f.force, "force", false, "overwrite FILE")
	offer(c, "for", oneOf(names))
	offer(c, "backend", oneOf(kindsByURL()))
	offer(c, "url", schemesOf(&f.backend))
	offer(c, "model", cobra.NoFileCompletions)
	offer(c, "out", completePlan)
	return c
}

// kindsByURL lists the kinds of backend that init can write a plan for: those with a URL that take
// tensors.
func kindsByURL() []string {
	var names []string
	for _, k := range all.Kinds() {
		if k.Open != nil && k.Schemes != nil && k.Abilities(backends.Target{}).Has(backends.Tensors) {
			names = append(names, k.Name)
		}
	}
	return names
}

// check checks the flags, and sets the model of the embedded server if none is named.
func (f *initFlags) check() (p purpose, err error) {
	if err := checkWord("purpose", f.purpose, purposeNames()); err != nil {
		return p, err
	}
	if err := checkWord("backend", f.backend, kindsByURL()); err != nil {
		return p, err
	}
	p = purposes()[slices.Index(purposeNames(), f.purpose)]
	scheme, _, hasScheme := strings.Cut(f.url, "://")
	schemes := backendKind(f.backend).Schemes
	embedded := scheme == "builtin"
	switch {
	case !hasScheme:
		return p, fmt.Errorf("--url %s has no scheme\nwrite --url http://%s, or --url grpc://%s for gRPC",
			f.url, f.url, f.url)
	case !embedded && !slices.Contains(schemes, scheme):
		return p, fmt.Errorf("--url %s: backend %s has no scheme %s://\nallowed: %s://",
			f.url, f.backend, scheme, strings.Join(schemes, "://, "))
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
		target := backends.Target{URL: f.url, Model: f.model, ConnectTimeout: describeTimeout}
		sig, asked = describeModel(ctx, backendKind(f.backend), target)
		var unknown *backends.UnknownModelError
		if errors.As(asked, &unknown) {
			return fmt.Errorf("%w%s", asked, modelsOf(unknown))
		}
		if p.sequences && asked == nil && sig.Sequence == backends.NoSequences {
			return fmt.Errorf("model %s keeps no state between requests: "+
				"--for %s needs one with sequence batching", f.model, p.name)
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
	if f.schema {
		if err := writeSchema(filepath.Join(filepath.Dir(f.out), schemaFile)); err != nil {
			return fmt.Errorf("write the plan: %w", err)
		}
	}
	if err := createPlan(f.out, text, f.force); err != nil {
		return err
	}
	if f.schema {
		a.report("%s written, for editors\n", filepath.Join(filepath.Dir(f.out), schemaFile))
	}
	a.reportWritten(f.out)
	return nil
}

// modelsOf returns a text with the models that a server has, or the versions of the model.
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
		return fmt.Sprintf("%s\nit has %s and %d more", hint, strings.Join(known[:most], ", "),
			len(known)-most)
	}
	return hint + "\nit has " + strings.Join(known, ", ")
}

// createPlan writes a plan to a new file, or with force over an existing one.
func createPlan(name, text string, force bool) error {
	flags := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if force {
		flags = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	file, err := os.OpenFile(name, flags, 0o666)
	if err == nil {
		_, err = file.WriteString(text)
		err = errors.Join(err, file.Close())
	}
	switch {
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("write the plan: %w (--force overwrites)", err)
	case err != nil:
		return fmt.Errorf("write the plan: %w", err)
	}
	return nil
}

// schemaFile is the name of the schema in the folder of a plan.
const schemaFile = "sluice.schema.json"

// writeSchema writes the schema of plans. It overwrites an older one, and returns an error for any
// other file.
func writeSchema(file string) error {
	old, err := os.ReadFile(file)
	switch {
	case err == nil && bytes.Equal(old, schema.Plan()):
		return nil
	case err == nil && !schema.IsPlan(old):
		return fmt.Errorf("%s exists and is not a schema of plans\nmove it, or leave the schema out by "+
			"--schema=false",
			file)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return os.WriteFile(file, schema.Plan(), 0o644)
}

// backendKind returns the kind of backend with a name, or nil.
func backendKind(name string) *backends.Kind {
	for _, k := range all.Kinds() {
		if k.Name == name {
			return &k
		}
	}
	return nil
}

// describeTimeout limits the time in which a server describes its model. A server in this process
// loads its models first, and its start cannot be cancelled: startTimeout.
const (
	describeTimeout = 5 * time.Second
	startTimeout    = 10 * time.Minute
)

// describeModel asks the server of a target about its model.
func describeModel(
	ctx context.Context, kind *backends.Kind, t backends.Target,
) (sig backends.Signature, err error) {
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
