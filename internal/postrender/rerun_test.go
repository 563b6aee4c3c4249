package postrender

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/example/appservice-operator/api/v1"
)

const migration = `
apiVersion: batch/v1
kind: Job
metadata: {name: migrate, annotations: {app.example.com/rerun-on-change: "true"}}
spec:
  backoffLimit: 3
  template: {spec: {restartPolicy: Never, containers: [{name: app, image: migrate:1}]}}
`

// renamed is the name of a Job after the hook.
func renamed(t *testing.T, text string) string {
	t.Helper()
	object := parse(t, text)
	require.NoError(t, Rerun(t.Context(), nil, []*unstructured.Unstructured{object}))
	return object.GetName()
}

func TestRerun(t *testing.T) {
	before := renamed(t, migration)
	if !strings.HasPrefix(before, "migrate-") || len(before) != len("migrate-")+digestLength {
		t.Errorf("got the name %q", before)
	}
	cases := map[string]struct {
		old, new string
		again    bool
	}{
		"nothing changes":                {},
		"its image":                      {"migrate:1", "migrate:2", true},
		"how often it is tried":          {"backoffLimit: 3", "backoffLimit: 6", false},
		"it is suspended":                {"backoffLimit: 3", "backoffLimit: 3, suspend: true", false},
		"how often it has to succeed":    {"backoffLimit: 3", "backoffLimit: 3, completions: 2", true},
		"how its pods are to be labeled": {"template: {", "template: {metadata: {labels: {team: a}}, ", true},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			flow := strings.Replace(migration, "spec:\n  backoffLimit: 3\n  template: {spec: {restartPolicy: Never, containers: [{name: app, image: migrate:1}]}}",
				"spec: {backoffLimit: 3, template: {spec: {restartPolicy: Never, containers: [{name: app, image: migrate:1}]}}}", 1)
			after := renamed(t, strings.Replace(flow, test.old, test.new, 1))
			if (after != before) != test.again {
				t.Errorf("it was %s and is %s", before, after)
			}
		})
	}
}

func TestRerunLeavesOtherJobsAlone(t *testing.T) {
	if got := renamed(t, strings.Replace(migration, `"true"`, `"false"`, 1)); got != "migrate" {
		t.Errorf("got the name %q", got)
	}
}

func TestRerunKeepsNamesShort(t *testing.T) {
	if got := renamed(t, strings.Replace(migration, "name: migrate,", "name: "+strings.Repeat("m", 70)+",", 1)); len(got) != 63 {
		t.Errorf("%q has %d characters", got, len(got))
	}
}

func TestRerunIsForJobs(t *testing.T) {
	object := parse(t, deployment)
	object.SetAnnotations(map[string]string{v1.AnnotationRerun: "true"})
	err := Rerun(t.Context(), nil, []*unstructured.Unstructured{object})
	var refused *ObjectError
	if !errors.As(err, &refused) || !strings.Contains(err.Error(), `Deployment "web" has the annotation app.example.com/rerun-on-change, which is for Jobs`) {
		t.Errorf("got %v", err)
	}
}
