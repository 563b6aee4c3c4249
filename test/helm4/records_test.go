package helm4

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	release3 "helm.sh/helm/v3/pkg/release"
	storage3 "helm.sh/helm/v3/pkg/storage"
	driver3 "helm.sh/helm/v3/pkg/storage/driver"
	release4 "helm.sh/helm/v4/pkg/release/v1"
	storage4 "helm.sh/helm/v4/pkg/storage"
	driver4 "helm.sh/helm/v4/pkg/storage/driver"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/example/appservice-operator/internal/engine/kube/livestate"
	"github.com/example/appservice-operator/internal/engine/release"
	"github.com/example/appservice-operator/internal/engine/render"
)

// store is a namespace with release records, as both versions of Helm see it.
type store struct {
	clients *fake.Clientset
	three   *storage3.Storage
	four    *storage4.Storage
}

func newStore() store {
	clients := fake.NewClientset()
	secrets := clients.CoreV1().Secrets("shop")
	return store{clients, storage3.Init(driver3.NewSecrets(secrets)), storage4.Init(driver4.NewSecrets(secrets))}
}

// both reads a record with both versions of Helm, and requires that they see the same.
func (s store) both(t *testing.T, name string, revision int) (*release3.Release, *release4.Release) {
	t.Helper()
	three, err := s.three.Get(name, revision)
	require.NoError(t, err)
	read, err := s.four.Get(name, revision)
	require.NoError(t, err)
	four := read.(*release4.Release)
	text, err := json.Marshal(four)
	require.NoError(t, err)
	same := &release3.Release{Labels: four.Labels}
	require.NoError(t, json.Unmarshal(text, same))
	require.Equal(t, three, same)
	return three, four
}

// Whatever the operator records is read by Helm 4, and the operator reads it after Helm 4 has written it again.
func TestRecordsOfTheOperator(t *testing.T) {
	for _, one := range goldenCases(t) {
		s, name := newStore(), one.resource.GetName()
		desired := s.record(t, one)
		three, four := s.both(t, name, 1)
		require.Equal(t, desired.Manifest(), four.Manifest, one.name)

		require.NoError(t, s.four.Update(four))
		again, _ := s.both(t, name, 1)
		require.Equal(t, three, again, one.name)
		decoded, err := release.Decode(s.secret(t, name, 1))
		require.NoError(t, err, one.name)
		require.Len(t, decoded.Objects, len(desired.Objects), one.name)
	}
}

// record has the operator record the release of a case, and returns what that is.
func (s store) record(t *testing.T, one goldenCase) *render.Result {
	t.Helper()
	desired, err := one.renderer.Render(t.Context(), one.resource, render.Serving(one.renderer.Chart))
	require.NoError(t, err, one.name)
	one.resource.SetCreationTimestamp(metav1.Now())
	writer := &livestate.Writer{Secrets: s.clients.CoreV1(), Observer: livestate.New(nil, nil, nil)}
	task := release.Task{Owner: one.resource, Chart: one.renderer.Chart, Desired: desired, Snapshot: &livestate.Snapshot{}}
	require.NoError(t, release.NewActor(writer, nil, 1).Record(t.Context(), task, nil), one.name)
	return desired
}

func (s store) secret(t *testing.T, name string, revision int) *corev1.Secret {
	t.Helper()
	secret, err := s.clients.CoreV1().Secrets("shop").Get(t.Context(), livestate.RecordName(name, revision), metav1.GetOptions{})
	require.NoError(t, err)
	return secret
}

// A release of Helm's own, with a hook, notes and the files of a chart.
func TestRecordsOfHelm(t *testing.T) {
	s := newStore()
	three := release3.Mock(&release3.MockReleaseOptions{Name: "web", Version: 1, Namespace: "shop"})
	three.Labels = map[string]string{"team": "shop"}
	require.NoError(t, s.three.Create(three))
	s.both(t, "web", 1)

	four := release4.Mock(&release4.MockReleaseOptions{Name: "web", Version: 2, Namespace: "shop", Labels: three.Labels})
	four.ApplyMethod, four.Info.RollbackRevision = string(release4.ApplyMethodServerSideApply), 1
	four.Hooks[0].LastRun = release4.HookExecution{StartedAt: four.Info.FirstDeployed, Phase: release4.HookPhaseRunning}
	require.NoError(t, s.four.Create(four))
	read, _ := s.both(t, "web", 2)
	require.Equal(t, four.Manifest, read.Manifest)
	require.Equal(t, string(four.Info.Status), read.Info.Status.String())
	require.True(t, read.Info.FirstDeployed.Equal(read.Info.LastDeployed) && read.Info.FirstDeployed.Time.Equal(four.Info.FirstDeployed))
	require.Equal(t, four.Hooks[0].Manifest, read.Hooks[0].Manifest)

	secret := s.secret(t, "web", 2)
	require.EqualValues(t, livestate.RecordType, secret.Type)
	manifest, err := release.ManifestWithHooks(secret.Data["release"]) // as an adoption reads it
	require.NoError(t, err)
	require.Contains(t, manifest, four.Hooks[0].Manifest)
}
