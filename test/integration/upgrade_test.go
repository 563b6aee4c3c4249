//go:build cluster

package integration

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/harness"
	"github.com/example/appservice-operator/tools/toolchain"
)

// upgradedNodePort is added to the node ports of the samples of the version before.
const upgradedNodePort = 300

// versionBefore is the file with the commit of the version that is upgraded. Its operator knows no release tasks, no generated values
// and no return.
const versionBefore = "../testdata/before/COMMIT"

// An upgrade of the operator restarts no pod, deletes nothing, runs no Job again and refuses no object of the samples
// of the version before.
func TestAnUpgradeChangesNothingThatRuns(t *testing.T) {
	t.Parallel()
	withForeignKinds(t)
	commit, err := os.ReadFile(versionBefore)
	require.NoError(t, err)
	source := sourceOf(t, strings.TrimSpace(string(commit)))
	namespace := cluster.Namespace(t)
	old := harness.RunBinary(t, managerOf(t, strings.TrimSpace(string(commit))), cluster.NewProxy(t).Kubeconfig, "--watch-namespaces="+namespace)
	apps := createSamplesOf(t, source, namespace)
	for _, app := range apps {
		cluster.Ready(t, app)
	}
	before := uidsOf(t, namespace)
	old.Kill()

	manager := cluster.Manager(t, namespace)
	manager.Rest(t)
	assert.Equal(t, before, uidsOf(t, namespace))
	t.Logf("%d AppServices, %d objects that run", len(apps), len(before))
	for _, request := range manager.Requests.WritesSince(0) {
		if request.Verb == "delete" {
			t.Errorf("the upgrade wrote: %s", request)
		}
	}
	for _, app := range apps {
		cluster.Ready(t, app)
		assert.Empty(t, app.Status.Problems, app.Name)
	}
}

// createSamplesOf creates the AppServices of a version's samples, and what they refer to.
func createSamplesOf(t *testing.T, source, namespace string) []*v1.AppService {
	t.Helper()
	root, err := toolchain.Root()
	require.NoError(t, err)
	source, err = filepath.Rel(root, source)
	require.NoError(t, err)
	var apps []*v1.AppService
	for _, file := range allSamples(t) {
		list := documents(t, filepath.Join(source, samples, file))
		if len(list) == 0 || list[0].GetKind() != v1.Kind {
			continue
		}
		for _, object := range documents(t, filepath.Join(source, fixtures, "samples", file)) {
			createFixture(t, t, namespace, object)
		}
		sample := list[0]
		sample.SetNamespace(namespace)
		moveNodePorts(t, sample, upgradedNodePort)
		cluster.Create(t, sample, client.FieldValidation(metav1.FieldValidationStrict))
		apps = append(apps, &v1.AppService{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: sample.GetName()}})
	}
	return apps
}

// whatStays are the kinds of objects that an upgrade neither makes nor deletes. A ReplicaSet or a ControllerRevision is made for each
// template of pods.
var whatStays = []schema.GroupVersionKind{
	appsv1.SchemeGroupVersion.WithKind("Deployment"), appsv1.SchemeGroupVersion.WithKind("StatefulSet"),
	appsv1.SchemeGroupVersion.WithKind("ReplicaSet"), appsv1.SchemeGroupVersion.WithKind("ControllerRevision"),
	batchv1.SchemeGroupVersion.WithKind("Job"), corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim"),
	corev1.SchemeGroupVersion.WithKind("Service"), corev1.SchemeGroupVersion.WithKind("Pod"),
}

// uidsOf returns the UIDs of objects that stay, by kind and name.
func uidsOf(t *testing.T, namespace string) map[string]types.UID {
	t.Helper()
	all := map[string]types.UID{}
	for _, kind := range whatStays {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(kind)
		cluster.List(t, list, client.InNamespace(namespace))
		for _, object := range list.Items {
			all[kind.Kind+" "+object.Name] = object.UID
		}
	}
	return all
}

// sourceOf checks a commit out into a folder.
func sourceOf(t *testing.T, commit string) string {
	t.Helper()
	root, err := toolchain.Root()
	require.NoError(t, err)
	source := filepath.Join(t.TempDir(), "source")
	if out, err := exec.Command("git", "-C", root, "worktree", "add", "--detach", source, commit).CombinedOutput(); err != nil {
		t.Skipf("commit %s is not in this repository: %s", commit, out)
	}
	t.Cleanup(func() { _ = exec.Command("git", "-C", root, "worktree", "remove", "--force", source).Run() })
	return source
}

// managers are held while the manager of a former version is built.
var managers sync.Mutex

// managerOf returns the manager of a former version, which is built once for a commit.
func managerOf(t *testing.T, commit string) string {
	t.Helper()
	managers.Lock()
	defer managers.Unlock()
	cache, err := toolchain.Cache()
	require.NoError(t, err)
	binary := filepath.Join(cache, "managers", commit)
	if _, err := os.Stat(binary); err == nil {
		return binary
	}
	require.NoError(t, os.MkdirAll(filepath.Dir(binary), 0o755))
	building := binary + ".new"
	build := exec.Command("go", "build", "-ldflags=-X github.com/example/appservice-operator/internal/version.Version=0.0.1", "-o", building, "./cmd/manager")
	build.Dir = sourceOf(t, commit)
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))
	require.NoError(t, os.Rename(building, binary))
	return binary
}
