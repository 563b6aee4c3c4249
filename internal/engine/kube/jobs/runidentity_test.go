package jobs

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	v1 "github.com/example/appservice-operator/api/v1"
)

func parse(t *testing.T, text string) map[string]any {
	t.Helper()
	out := map[string]any{}
	require.NoError(t, yaml.Unmarshal([]byte(text), &out))
	return out
}

func identify(t *testing.T, annotation, job, spec, restarted string) Run {
	t.Helper()
	object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "batch/v1", "kind": "Job", "spec": parse(t, job)}}
	object.SetName("migrate")
	object.SetAnnotations(map[string]string{v1.AnnotationRerun: annotation})
	resource := &unstructured.Unstructured{Object: map[string]any{"spec": parse(t, spec)}}
	resource.SetAnnotations(map[string]string{v1.AnnotationRestartedAt: restarted, "other": restarted})
	run, err := Of(object, resource, parse(t, "{image: '', args: [], config: {mountPath: /etc/config, files: {}}, retries: 3}"))
	require.NoError(t, err)
	return run
}

func TestWhatARunIs(t *testing.T) {
	const fields = "image, args,config"
	before := identify(t, fields, "{}", "{image: 'migrate:1'}", "")
	cases := map[string]struct {
		job, spec, restarted string
		again                bool
	}{
		"nothing changes":              {spec: "{image: 'migrate:1'}"},
		"the image":                    {spec: "{image: 'migrate:2'}", again: true},
		"a field that is not listed":   {spec: "{image: 'migrate:1', retries: 7, suspend: true}"},
		"a default is written":         {spec: "{image: 'migrate:1', config: {mountPath: /etc/config}, args: []}"},
		"another value than a default": {spec: "{image: 'migrate:1', config: {mountPath: /etc/else}}", again: true},
		"the chart renders otherwise":  {job: "{template: {spec: {schedulerName: x}}}", spec: "{image: 'migrate:1'}"},
		"it is asked for":              {spec: "{image: 'migrate:1'}", restarted: "now", again: true},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			after := identify(t, fields, test.job, test.spec, test.restarted)
			if (after.Digest != before.Digest) != test.again || (after.Name("") != before.Name("")) != test.again {
				t.Errorf("it was %s, and is %s", before.Digest, after.Digest)
			}
			if after.Repeats(parse(t, "{image: 'migrate:1'}"), "") == test.again {
				t.Errorf("that it repeats the run before is %t", test.again)
			}
		})
	}
	if other := identify(t, "image,args,config,envs", "{}", "{image: 'migrate:1'}", ""); !other.Repeats(parse(t, "{image: 'migrate:1'}"), "") {
		t.Error("it would run again since the chart names one more field")
	}
}

func TestWithAKeyTheNameOfARunSaysNothingOfIt(t *testing.T) {
	run, other := identify(t, "image", "{}", "{image: x}", ""), identify(t, "image", "{}", "{image: y}", "")
	names := []string{run.Name(""), run.Name("a"), run.Name("b"), other.Name("a")}
	for i, name := range names {
		require.True(t, run.Named(name))
		require.NotContains(t, names[:i], name)
	}
}

func TestARunOfTheRenderedJob(t *testing.T) {
	before := identify(t, Rendered, "{backoffLimit: 3, template: {spec: {a: b}}}", "{image: x}", "")
	for name, test := range map[string]struct {
		job, spec string
		again     bool
	}{
		"the spec alone":         {"{backoffLimit: 3, template: {spec: {a: b}}}", "{image: y}", false},
		"a field that may":       {"{backoffLimit: 4, suspend: true, template: {spec: {a: b}}}", "{image: x}", false},
		"a field that may not":   {"{backoffLimit: 3, completions: 2, template: {spec: {a: b}}}", "{image: x}", true},
		"the pods that it makes": {"{backoffLimit: 3, template: {spec: {a: c}}}", "{image: x}", true},
	} {
		if after := identify(t, Rendered, test.job, test.spec, ""); (after.Digest != before.Digest) != test.again {
			t.Errorf("%s: it was %s, and is %s", name, before.Digest, after.Digest)
		}
	}
}

// A chart that renders a Job otherwise runs it again, though the spec is the same; one that lists another field does not.
func TestWhichNotedRunMayBeRepeated(t *testing.T) {
	const pods = "{template: {spec: {a: b}}}"
	for name, test := range map[string]struct {
		annotation, job string
		want            bool
	}{
		"the same is rendered":         {Rendered, pods, true},
		"the chart renders otherwise":  {Rendered, "{template: {spec: {a: c}}}", false},
		"the chart lists other fields": {"args", pods, true},
	} {
		noted := v1.RunStatus{Digest: identify(t, Rendered, pods, "{image: x}", "").Digest}
		if got := identify(t, test.annotation, test.job, "{image: x}", "").MayRepeat(noted); got != test.want {
			t.Errorf("%s: got %t", name, got)
		}
	}
}

func TestNamesOfRuns(t *testing.T) {
	run := Run{Job: strings.Repeat("m", 70), Digest: strings.Repeat("d", 32)}
	if len(run.Name("")) != 63 || !run.Named(run.Name("")) {
		t.Errorf("got %q", run.Name(""))
	}
	short := Run{Job: "m", Digest: "0123456789"}
	for name, want := range map[string]bool{"m-01234567": true, "m-89abcdef": true, "m": false, "m-a-01234567": false, "n-01234567": false} {
		if short.Named(name) != want {
			t.Errorf("that %s may be a run is %t", name, !want)
		}
	}
}

func TestTheAnnotationIsForJobs(t *testing.T) {
	object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "apps/v1", "kind": "Deployment"}}
	object.SetAnnotations(map[string]string{v1.AnnotationRerun: Rendered})
	if _, err := Of(object, &unstructured.Unstructured{Object: map[string]any{}}, nil); err == nil || !strings.Contains(err.Error(), "which is for Jobs") {
		t.Errorf("got %v", err)
	}
}
