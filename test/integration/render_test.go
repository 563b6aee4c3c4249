//go:build cluster

package integration

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/example/appservice-operator/internal/engine/release"
	"github.com/example/appservice-operator/internal/plugin"
	"github.com/example/appservice-operator/test/files"
	"github.com/example/appservice-operator/test/harness"
)

// The output of "render --live" for a sample's file is byte for byte what the operator wrote, according to its record, and "diff" finds no
// difference. It runs alone: samples refer to classes, which are cluster-wide.
func TestRenderIsWhatIsReleased(t *testing.T) {
	withForeignKinds(t)
	namespace := cluster.Namespace(t)
	var all []*unstructured.Unstructured
	for _, file := range allSamples(t) {
		for _, object := range documents(t, filepath.Join(fixtures, "samples", file)) {
			createFixture(t, t, namespace, object)
		}
		sample := documents(t, filepath.Join(samples, file))[0]
		moveNodePorts(t, sample, 2*otherNodePort)
		all = append(all, sample.DeepCopy())
		sample.SetNamespace(namespace)
		cluster.Create(t, sample, client.FieldValidation(metav1.FieldValidationStrict))
		t.Cleanup(func() { _ = cluster.Client.Delete(context.WithoutCancel(t.Context()), sample) }) // its pods would take resources from other tests
	}
	manager := cluster.Manager(t, namespace)
	require.NotEmpty(t, all)
	for _, sample := range all {
		harness.Eventually(t, sample.GetName()+" is recorded", func() error {
			_, err := recordedManifest(t, namespace, sample.GetName())
			return err
		})
	}
	manager.Rest(t)
	equal := 0
	for _, sample := range all {
		if t.Run(sample.GetName(), func(t *testing.T) { rendersAsReleased(t, namespace, sample) }) {
			equal++
		}
	}
	fmt.Printf("render_equal=%d/%d\n", equal, len(all))
}

func rendersAsReleased(t *testing.T, namespace string, sample *unstructured.Unstructured) {
	text, err := yaml.Marshal(sample.Object)
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "sample.yaml")
	files.Write(t, file, string(text))
	manifest, err := recordedManifest(t, namespace, sample.GetName())
	require.NoError(t, err)
	if got := commandLine(t, 0, namespace, "render", "-f", file, "--live", "--show-secrets", "-o", "manifest"); got != manifest {
		t.Errorf("what is rendered is not what was released (-released +rendered):\n%s", cmp.Diff(manifest, got))
	}
	want := fmt.Sprintf("%s %s/%s: nothing changes\n", sample.GetKind(), namespace, sample.GetName())
	if got := commandLine(t, 0, namespace, "diff", "-f", file, "--live"); got != want {
		t.Errorf("diff says\n%swant\n%s", got, want)
	}
}

// commandLine runs a command of kubectl-appservice in a namespace of the cluster, and returns its output.
func commandLine(t *testing.T, want int, namespace string, args ...string) string {
	t.Helper()
	streams, _, stdout, stderr := genericiooptions.NewTestIOStreams()
	args = append(args, "--kubeconfig", cluster.Kubeconfig, "--namespace", namespace)
	if code := plugin.Run(t.Context(), args, streams); code != want {
		t.Errorf("kubectl appservice %v ends with %d, want %d: %s%s", args, code, want, stdout, stderr)
	}
	return stdout.String()
}

// recordedManifest is that of the newest release record of a name.
func recordedManifest(t *testing.T, namespace, name string) (string, error) {
	t.Helper()
	list := &corev1.SecretList{}
	if err := cluster.Client.List(t.Context(), list, client.InNamespace(namespace), client.MatchingLabels{"owner": "helm", "name": name}); err != nil {
		return "", err
	}
	newest, revision := (*corev1.Secret)(nil), 0
	for i := range list.Items {
		if number, err := strconv.Atoi(list.Items[i].Labels["version"]); err == nil && number > revision {
			newest, revision = &list.Items[i], number
		}
	}
	if newest == nil {
		return "", fmt.Errorf("%s is not recorded", name)
	}
	recorded, err := release.Decode(newest)
	if err != nil {
		return "", err
	}
	return recorded.Manifest, nil
}
