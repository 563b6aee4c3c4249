package plugin

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	appservice "github.com/example/appservice-operator"
	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/chart"
	"github.com/example/appservice-operator/internal/engine/chart/crd"
	"github.com/example/appservice-operator/internal/engine/chart/rbac"
	"github.com/example/appservice-operator/internal/engine/text"
	"github.com/example/appservice-operator/internal/plugin/lint"
)

// definitionsDir is the folder with the CRDs, relative to watches.yaml.
const definitionsDir = "config/crd/bases"

func lintCommand(s *cli) *cobra.Command {
	var output string
	var resources []string
	var complete bool
	cmd := &cobra.Command{
		Use:   "lint [CHART...]",
		Short: "Check charts for mistakes",
		Long: "Lint finds mistakes in charts before they are served: those that the operator would refuse, and those that would show later. A CHART is a\n" +
			"folder. Its kind is taken from the watches.yaml in a parent folder. Without CHART, all charts of the watches.yaml in the current folder are\n" +
			"checked, or the built-in charts if there is none. docs/lint.md explains each rule. It exits with 1 if there are findings.",
		Example: `# a chart, with a sample
kubectl appservice lint helm-charts/appservice -f config/samples/full.yaml

# all charts of watches.yaml
kubectl appservice lint

# as annotations in a GitHub workflow, or as JSON
kubectl appservice lint -o github
kubectl appservice lint helm-charts/appjob -o json`,
		Annotations: map[string]string{"offline": "true"},
		RunE: func(cmd *cobra.Command, args []string) error {
			subjects, err := s.chartSubjects(args, resources)
			if err != nil {
				return err
			}
			var reports []lint.Report
			found := 0
			for _, each := range subjects {
				// an example lacks optional fields, so it proves no exception stale
				each.Complete = complete && !each.isExample
				list, err := lint.Check(cmd.Context(), each.Subject)
				if err != nil {
					return fmt.Errorf("%s: %w", each.shown, err)
				}
				_, _ = fmt.Fprintf(s.ErrOut, "%s: %d %s, %d %s\n", each.shown, len(each.Cases),
					text.Agree(len(each.Cases), "case", "cases"), len(list), text.Agree(len(list), "finding", "findings"))
				reports = append(reports, lint.Report{Dir: each.shown, Findings: list})
				found += len(list)
			}
			if err := lint.Print(s.Out, output, reports); err != nil {
				return err
			}
			return ifFound(found > 0)
		},
	}
	cmd.Flags().StringArrayVarP(&resources, "filename", "f", nil,
		"files or folders with resources to render; - for stdin (default: a resource with the required fields only)")
	cmd.Flags().BoolVar(&complete, "all-cases", false,
		"the resources are all cases of their kinds: report exceptions that none of them needs")
	s.outputFlag(cmd, &output, lint.Formats)
	return cmd
}

// chartSubject is a chart to check; shown is its folder for messages, isExample is set if its only case is an example.
type chartSubject struct {
	lint.Subject
	shown     string
	isExample bool
}

// chartSubjects returns the charts of the arguments, or all of watches.yaml if there are none, with the resources of
// their kinds as cases.
func (s *cli) chartSubjects(args, resources []string) ([]chartSubject, error) {
	var given []document
	if len(resources) > 0 {
		var err error
		if given, err = s.documents(resources); err != nil {
			return nil, err
		}
	}
	var list []chartSubject
	if len(args) == 0 {
		var files fs.FS = appservice.Files
		if _, err := os.Stat(watchesFile); err == nil {
			if files, err = folder("."); err != nil {
				return nil, err
			}
		}
		entries, err := entriesOf(files)
		if err != nil {
			return nil, err
		}
		for _, entry := range entries {
			list = append(list, chartSubject{lint.Subject{Files: files, Dir: entry.ChartPath, Kind: entry.GroupVersionKind,
				Overrides: entry.OverrideValues, Published: entry.Published}, entry.ChartPath, false})
		}
	}
	for _, arg := range args {
		found, err := subjectOf(arg)
		if err != nil {
			return nil, err
		}
		list = append(list, found)
	}
	for i := range list {
		if err := list[i].complete(given); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// entriesOf reads the watches.yaml of a folder.
func entriesOf(files fs.FS) ([]chart.Watch, error) {
	text, err := fs.ReadFile(files, watchesFile)
	if err != nil {
		return nil, err
	}
	list, broken, err := chart.ReadWatches(text, files)
	if err != nil {
		return nil, err
	}
	// a chart that does not load is a finding: only mistakes of the file itself are errors
	faults := broken.WithoutKind()
	for _, entry := range list {
		if fault, is := errors.AsType[*chart.EntryError](broken[entry.GroupVersionKind]); is {
			faults = append(faults, fault)
		}
	}
	return list, errors.Join(faults...)
}

// watchesIn returns the files of a folder with a watches.yaml, and its entries.
func watchesIn(dir string) (fs.FS, []chart.Watch, error) {
	if _, err := os.Stat(filepath.Join(dir, watchesFile)); err != nil {
		return nil, nil, err
	}
	files, err := folder(dir)
	if err != nil {
		return nil, nil, err
	}
	entries, err := entriesOf(files)
	return files, entries, err
}

// subjectOf returns the chart in a folder, with the entry for it in a watches.yaml of a parent folder. Without an
// entry, the kind is the name of the folder, capitalized.
func subjectOf(arg string) (chartSubject, error) {
	dir, err := filepath.Abs(arg)
	if err != nil {
		return chartSubject{}, err
	}
	if info, err := os.Stat(dir); err != nil {
		return chartSubject{}, err
	} else if !info.IsDir() {
		return chartSubject{}, fmt.Errorf("%s is not a folder", arg)
	}
	// the nearest watches.yaml that lists the chart counts, also if one in between serves other charts
	for above := filepath.Dir(dir); ; above = filepath.Dir(above) {
		files, entries, err := watchesIn(above)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return chartSubject{}, fmt.Errorf("%s: %w", filepath.Join(above, watchesFile), err)
		}
		below, _ := filepath.Rel(above, dir) // it is above
		for _, entry := range entries {
			if path.Clean(entry.ChartPath) == filepath.ToSlash(below) {
				return chartSubject{lint.Subject{Files: files, Dir: entry.ChartPath, Kind: entry.GroupVersionKind,
					Overrides: entry.OverrideValues, Published: entry.Published}, filepath.ToSlash(filepath.Clean(arg)), false}, nil
			}
		}
		if above == filepath.Dir(above) {
			name := filepath.Base(dir)
			kind := v1.GroupVersion.WithKind(strings.ToUpper(name[:1]) + name[1:])
			// a chart is a folder within the files: its parent is opened
			beside, err := folder(filepath.Dir(dir))
			return chartSubject{lint.Subject{Files: beside, Dir: name, Kind: kind},
				filepath.ToSlash(filepath.Clean(arg)), false}, err
		}
	}
}

// complete adds cases and the operator's RBAC rules, from the folder with the chart or the built-in files. Without
// resources of its kind, the only case is an example.
func (s *chartSubject) complete(given []document) error {
	for _, d := range given {
		if d.GroupVersionKind() != s.Kind {
			continue
		}
		s.Cases = append(s.Cases, lint.Case{Name: d.at(), Resource: d.Unstructured})
	}
	config := configOf(s.Files)
	if len(s.Cases) == 0 {
		d, err := definitionOf(config, s.Kind)
		if err != nil {
			return err
		}
		s.Cases, s.isExample = []lint.Case{lint.Example(s.Kind, d)}, true
	}
	var err error
	s.Granted, err = rbac.ReadGranted(config)
	return err
}

// configOf returns files if they contain the CRDs of an installation, else the built-in files.
func configOf(files fs.FS) fs.FS {
	if _, err := fs.Stat(files, definitionsDir); err == nil {
		return files
	}
	return builtInFiles
}

// definitionOf returns the definition of a kind; nil if there is none. Built-in ones are read once.
func definitionOf(config fs.FS, kind schema.GroupVersionKind) (*crd.Definition, error) {
	if config == builtInFiles {
		if known, found := definitions.Load(kind); found {
			return known.(*crd.Definition), nil
		}
	}
	plural, _ := meta.UnsafeGuessKindToResource(kind)
	definition, err := crd.Of(config, definitionsDir, kind, plural.Resource)
	if config == builtInFiles && err == nil {
		definitions.Store(kind, definition)
	}
	return definition, err
}

// definitions are those of the built-in files that were read, by kind.
var definitions sync.Map
