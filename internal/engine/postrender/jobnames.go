package postrender

import (
	"cmp"
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example/appservice-operator/internal/engine/kube/jobs"
)

// Rerun names each Job that runs once for each change of what it runs: after the Job that runs it already, or with a
// digest of it at the end.
func Rerun(_ context.Context, in *Input, objects []*unstructured.Unstructured) error {
	for _, object := range objects {
		if !jobs.RunsOnce(object) {
			continue
		}
		for _, run := range in.Runs {
			if run.Job == object.GetName() {
				object.SetName(cmp.Or(in.Facts.Jobs[run.Job], run.Name(NamingKey(in.Facts.Keys))))
				break
			}
		}
	}
	return nil
}
