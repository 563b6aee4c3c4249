package importer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example/appservice-operator/internal/engine/text"
	"github.com/example/appservice-operator/internal/plugin/importer/explain"
	"github.com/example/appservice-operator/internal/plugin/importer/read"
	"github.com/example/appservice-operator/internal/plugin/importer/translate"
)

// Importer converts workloads into AppServices, and Jobs into AppJobs.
type Importer struct {
	translate.Renderer
	// Names are those of resources whose workload has another name, by the workload: NAME or KIND/NAME, in lower case.
	// That of "" is for the only workload.
	Names map[string]string
}

// Objects imports each workload among objects, in their order, or only those with a name. It returns an error if there
// is none; one that cannot be imported does not hold up the others.
func (i *Importer) Objects(ctx context.Context, objects []*unstructured.Unstructured, only string) (*Import, error) {
	w, out := read.Sort(objects), &Import{}
	var applications []*translate.Application
	for _, of := range w.Workloads {
		if only != "" && of.GetName() != only {
			continue
		}
		s, err := translate.Workload(ctx, i.Renderer, w, of, i.nameOf(w, of))
		if err == nil {
			err = unique(applications, s)
		}
		if err != nil {
			w.Taken[of] = true
			out.Failed = append(out.Failed, read.Failure{Object: read.Describe(of), Err: translate.Plainly(err)})
			continue
		}
		applications = append(applications, s)
	}
	out.Failed = append(out.Failed, w.Unreadable...)
	if len(applications) == 0 {
		return nil, nothing(out, only, len(objects))
	}
	for _, s := range applications {
		notes := explain.Differences(s, applications)
		out.Results = append(out.Results, Result{s.App, s.Rendered, s.Given, notes})
	}
	if only == "" {
		out.Left = explain.LeftOver(w)
	}
	return out, nil
}

// nothing returns the error for objects that no resource can be made from.
func nothing(i *Import, only string, objects int) error {
	var errs []error
	for _, failure := range i.Failed {
		errs = append(errs, fmt.Errorf("cannot import %s: %s", text.Line(failure.Object), text.Line(failure.Err.Error())))
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	name := ""
	if only != "" {
		name = fmt.Sprintf(" %q", only)
	}
	return fmt.Errorf("there is no Deployment, StatefulSet, Job or other workload%s among %d %s: "+
		"an AppService or AppJob is made of one", name, objects, text.Agree(objects, "object", "objects"))
}

// unique returns an error if a resource of a kind and name is made already.
func unique(applications []*translate.Application, a *translate.Application) error {
	for _, other := range applications {
		if other.App.GetKind() == a.App.GetKind() && other.Name == a.Name && other.Namespace() == a.Namespace() {
			return fmt.Errorf("%s is made already, of %s, and both would be one: choose another name by --name %s/%s=NAME",
				read.Describe(a.App), read.Describe(other.Object), strings.ToLower(a.Object.GetKind()), a.Object.GetName())
		}
	}
	return nil
}

// nameOf returns the name of the resource that a workload becomes.
func (i *Importer) nameOf(o *read.Objects, of *unstructured.Unstructured) string {
	lone := ""
	if len(o.Workloads) == 1 {
		lone = i.Names[""]
	}
	return cmp.Or(i.Names[strings.ToLower(of.GetKind())+"/"+of.GetName()], i.Names[of.GetName()], lone, of.GetName())
}
