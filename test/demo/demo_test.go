package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/files"
)

const root = "../.."

func TestATemplateOfTheChartIsEdited(t *testing.T) {
	original, err := os.ReadFile(filepath.Join(root, charts, template))
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "_pod.tpl")
	files.Write(t, path, string(original))
	require.NoError(t, editTemplate(path))
	edited, err := os.ReadFile(path)
	require.NoError(t, err)
	before, after, found := strings.Cut(string(edited), edit+"\n")
	if !found || before+after != string(original) {
		t.Errorf("want the template and one line more, got\n%s", edited)
	}
	assert.NotContains(t, string(original), strings.TrimSpace(edit), "the chart has %q by now: show something else", strings.TrimSpace(edit))
	files.Write(t, path, "spec: {}\n")
	assert.Error(t, editTemplate(path), "a template without the line is edited without an error")
}

// The demo shows troubles by the sample with the trouble, and follows when the sample changes.
func TestTroublesAreTheSampleWithOneChange(t *testing.T) {
	cases := map[string]func(trouble, sample *v1.AppService){
		"broken-image.yaml": func(trouble, sample *v1.AppService) {
			assert.NotEqual(t, sample.Spec.Image, trouble.Spec.Image, "the image is not broken")
			trouble.Spec.Image, trouble.Spec.PodAnnotations = sample.Spec.Image, nil
		},
		"missing-secret.yaml": func(trouble, _ *v1.AppService) {
			if len(trouble.Spec.Envs) != 1 || trouble.Spec.Envs[0].ValueFrom.SecretKeyRef.Name != app {
				t.Errorf("it does not refer to the Secret that the demo creates: %v", trouble.Spec.Envs)
			}
			trouble.Spec.Envs = nil
		},
	}
	for file, takeBack := range cases {
		t.Run(file, func(t *testing.T) {
			trouble, want := parse(t, file), parse(t, filepath.Join(root, sample))
			takeBack(trouble, want)
			assert.Empty(t, cmp.Diff(want, trouble), "-sample +%s", file)
		})
	}
}

func TestTheSimulatedFailureIsOneOfTheImage(t *testing.T) {
	broken := parse(t, "broken-image.yaml")
	status := &corev1.PodStatus{}
	require.NoError(t, yaml.UnmarshalStrict([]byte(broken.Spec.PodAnnotations["script.kwok.x-k8s.io/status"]), status))
	if len(status.ContainerStatuses) != 1 || status.ContainerStatuses[0].State.Waiting == nil {
		t.Fatalf("no container waits: %+v", status.ContainerStatuses)
	}
	waiting := status.ContainerStatuses[0].State.Waiting
	if waiting.Reason != "ImagePullBackOff" || strings.Count(waiting.Message, broken.Spec.Image) != 4 {
		t.Errorf("got %s %q, want words about %s", waiting.Reason, waiting.Message, broken.Spec.Image)
	}
}

func TestCountRequests(t *testing.T) {
	cases := map[string]struct {
		metrics string
		want    int
		fails   bool
	}{
		"several series are summed": {
			"# TYPE rest_client_requests_total counter\nrest_client_requests_total{code=\"200\",method=\"GET\"} 2\n" +
				"rest_client_requests_total{code=\"201\",method=\"POST\"} 3\n# TYPE other counter\nother 7\n", 5, false,
		},
		"without the metric there is no figure": {"# TYPE other counter\nother 7\n", 0, true},
		"what is not a metric is an error":      {"<html>", 0, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := countRequests([]byte(c.metrics))
			if got != c.want || (err != nil) != c.fails {
				t.Errorf("got %d and error %v, want %d and an error: %t", got, err, c.want, c.fails)
			}
		})
	}
}

func parse(t *testing.T, path string) *v1.AppService {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	parsed := &v1.AppService{}
	if err := yaml.UnmarshalStrict(text, parsed); err != nil {
		t.Fatalf("cannot parse %s: %v", path, err)
	}
	return parsed
}
