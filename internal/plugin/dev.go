package plugin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/engine/filewatch"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/plugin/preview"
)

// devOptions are the flags of dev.
type devOptions struct {
	renderFlags
	apply bool
}

func devCommand(s *cli) *cobra.Command {
	d := &devOptions{}
	command := &cobra.Command{
		Use:   "dev --chart DIR -f FILE [--apply]",
		Short: "Render resources again each time a file is saved, and show the differences",
		Long: "Dev watches the charts and the resources, renders again when a file is saved, and prints the differences from the last rendering. An error is\n" +
			"printed with the lines of the template around it; the next rendering is compared with the last successful one. It runs until it is\n" +
			"interrupted.\n\n" +
			"--apply applies the resources, but not the rendered objects, to the current context, at the start and when they change and render without\n" +
			"errors. The operator there reconciles them: run one with the same folder (make run ARGS='--chart-dir=DIR').",
		Example: `# the charts in the current folder
kubectl appservice dev --chart . -f app.yaml

# a single chart, and also apply the resource to the cluster
kubectl appservice dev --chart helm-charts/appservice -f app.yaml --apply`,
		Annotations: map[string]string{"offline": "true", "until": "interrupted"},
		Args:        cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return s.dev(command.Context(), d)
		},
	}
	flags := command.Flags()
	d.addCharts(command, ".")
	flags.Lookup(chartFlag).Usage = "a chart, or the folder that contains helm-charts"
	flags.StringArrayVarP(&d.files, "filename", "f", nil, "files or folders with the resources")
	flags.BoolVar(&d.apply, "apply", false, "apply the resources to the current context when they change")
	d.addCluster(command)
	return command
}

// session is the state that dev keeps between renderings.
type session struct {
	*cli
	*devOptions
	// last is the last successful rendering of each resource, by name.
	last map[string]preview.Outcome
	// lastError is the last error that was printed; empty after a successful rendering.
	lastError string
	// applied is the text of each resource when it was last applied, by name.
	applied map[string]string
	client  client.Client
}

func (s *cli) dev(ctx context.Context, d *devOptions) error {
	if len(d.files) == 0 || slices.Contains(d.files, stdin) {
		return errors.New("name the files to watch with -f: stdin cannot be watched")
	}
	in := &session{cli: s, devOptions: d, last: map[string]preview.Outcome{}, applied: map[string]string{}}
	if d.apply {
		var err error
		if in.client, err = s.client(); err != nil {
			return err
		}
		namespace, err := s.namespace()
		if err != nil {
			return err
		}
		// previews are for the namespace that resources without one are applied to
		s.kube.Namespace = &namespace
	}
	folders, err := d.folders()
	if err != nil {
		return err
	}
	// one signal is enough: a rendering reads all files, whichever were saved while the last one ran
	saved := make(chan time.Time, 1)
	failed := make(chan error, len(folders))
	for _, folder := range folders {
		go func() {
			failed <- folder.Watch(ctx, func() {
				select {
				case saved <- time.Now():
				default: // a signal is pending already
				}
			})
		}()
	}
	for {
		select {
		case <-ctx.Done():
			return nil // an interrupt is not an error
		case err := <-failed:
			if err != nil {
				return err
			}
		case <-saved:
			if err := in.renderAgain(ctx); err != nil {
				return err
			}
		}
	}
}

// folders returns the folders to watch: those of the charts and of the resources.
func (d *devOptions) folders() ([]*filewatch.Folder, error) {
	charts := &filewatch.Folder{Root: d.charts}
	if _, err := os.Stat(filepath.Join(d.charts, chartFile)); err == nil {
		charts.Charts = []string{"."}
	} else {
		// charts that are broken at the start are watched as well, where the built-in list expects them
		served, err := chartsIn("")
		if own, ownErr := chartsIn(d.charts); ownErr == nil {
			served, err = own, nil
		}
		if err != nil {
			return nil, err
		}
		for _, entry := range served.Watches {
			charts.Charts = append(charts.Charts, entry.ChartPath)
		}
		charts.Files = []string{watchesFile}
	}
	all := []*filewatch.Folder{charts}
	for _, name := range d.files {
		info, err := os.Stat(name)
		switch {
		case err != nil:
			return nil, err
		case info.IsDir():
			all = append(all, &filewatch.Folder{Root: name, Charts: []string{"."}})
		default:
			all = append(all, &filewatch.Folder{Root: filepath.Dir(name), Files: []string{filepath.Base(name)}})
		}
	}
	return all, nil
}

// renderAgain renders all resources and prints the differences from the last rendering. Errors of charts and resources
// are printed, and not returned.
func (d *session) renderAgain(ctx context.Context) error {
	began := time.Now()
	charts, w, subjects, err := d.prepare(ctx, &d.renderFlags, nil)
	if err != nil {
		return d.printError(err)
	}
	var diffs []*preview.Diff
	first := len(d.last) == 0
	for _, one := range subjects {
		after := w.Outcome(ctx, charts, one.Unstructured, one.release)
		if after.Err != nil {
			return d.printError(one.wrap(after.Err))
		}
		before, known := d.last[one.name()]
		d.last[one.name()] = after
		// a resource that comes later is a difference; at the start, all would be
		if known || !first {
			diffs = append(diffs, preview.DiffOf(one.name(), before, after))
			continue
		}
		if _, err := fmt.Fprintf(d.Out, "%s becomes %s\n", one.name(), inventory(after.Objects)); err != nil {
			return err
		}
	}
	if err := d.printDiffs(diffs, time.Since(began)); err != nil {
		return err
	}
	return d.applyChanged(ctx, subjects)
}

// printDiffs prints the differences, and a summary if there are any or an error is resolved.
func (d *session) printDiffs(diffs []*preview.Diff, took time.Duration) error {
	resolved := d.lastError != ""
	d.lastError = ""
	count := 0
	for _, diff := range diffs {
		if diff.Empty() {
			continue
		}
		count++
		if err := d.writeDiff(d.Out, diff, true); err != nil {
			return err
		}
	}
	if len(diffs) > 0 && (count > 0 || resolved) {
		_, _ = fmt.Fprintf(d.ErrOut, "rendered in %d ms: %d of %d resources differ from before\n", took.Milliseconds(), count,
			len(diffs))
	}
	return nil
}

// printError prints an error, unless it is the same as the last one.
func (d *session) printError(err error) error {
	if text := err.Error(); text != d.lastError {
		d.lastError = text
		_, err := fmt.Fprintln(d.Out, d.paint(d.Out, red, text))
		return err
	}
	return nil
}

// inventory returns the kinds and names of objects, for example "Deployment web, Service web".
func inventory(objects []*unstructured.Unstructured) string {
	var names []string
	for _, object := range objects {
		names = append(names, kube.KeyOf(object).String())
	}
	if len(names) == 0 {
		return "nothing"
	}
	return strings.Join(names, ", ")
}

// applyChanged applies the resources whose text has changed since they were last applied.
func (d *session) applyChanged(ctx context.Context, subjects []subject) error {
	if d.client == nil {
		return nil
	}
	for _, one := range subjects {
		if d.applied[one.name()] == string(one.Text) {
			continue
		}
		resource := one.DeepCopy()
		// it is the placeholder of a file, and the API server refuses to create an object with a UID
		resource.SetUID("")
		err := d.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(resource), client.FieldOwner(fieldManager),
			client.ForceOwnership)
		if err != nil {
			if err := d.printError(one.wrap(err)); err != nil {
				return err
			}
			continue
		}
		d.applied[one.name()] = string(one.Text)
		_, _ = fmt.Fprintf(d.ErrOut, "%s applied\n", one.name())
	}
	return nil
}
