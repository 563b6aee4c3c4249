package livestate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/limits"
)

var (
	configMaps  = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	deployments = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
	routes      = schema.GroupVersionKind{Group: "gateway.networking.k8s.io", Version: "v1", Kind: "HTTPRoute"}
)

// informers are caches that show what they are told to.
type informers struct {
	cache.Cache
	shown []*unstructured.Unstructured
	// fail answers a list of a kind; nil for no error.
	fail func(kind string) error
	// listed is called when a list of a kind was answered.
	listed func(kind string)

	mu      sync.Mutex
	indexed []string
	values  map[schema.GroupVersionKind]func(client.Object) []string
}

func (i *informers) GetInformer(_ context.Context, object client.Object, _ ...cache.InformerGetOption) (cache.Informer, error) {
	kind := object.GetObjectKind().GroupVersionKind().Kind
	if err := i.failure(kind); err != nil {
		return nil, err
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.indexed = append(i.indexed, fmt.Sprintf("%T %s", object, kind))
	return nil, nil
}

func (i *informers) AddIndex(kind schema.GroupVersionKind, _ string, values func(client.Object) []string) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.values == nil {
		i.values = map[schema.GroupVersionKind]func(client.Object) []string{}
	}
	i.values[kind] = values
	return nil
}

func (i *informers) failure(kind string) error {
	if i.fail == nil {
		return nil
	}
	return i.fail(kind)
}

func (i *informers) ByIndex(kind schema.GroupVersionKind, _, value string) ([]client.Object, error) {
	if err := i.failure(kind.Kind); err != nil {
		return nil, err
	}
	i.mu.Lock()
	values := i.values[kind]
	i.mu.Unlock()
	var list []client.Object
	for _, object := range i.shown {
		if object.GroupVersionKind() != kind || !slices.Contains(values(object), value) {
			continue
		}
		item, err := kept(object)
		if err != nil {
			return nil, err
		}
		list = append(list, item)
	}
	if i.listed != nil {
		i.listed(kind.Kind)
	}
	return list, nil
}

// kept is an object as the caches keep it.
func kept(object *unstructured.Unstructured) (client.Object, error) {
	if object.GroupVersionKind() == kube.SecretKind {
		item := metadata(object)
		item.TypeMeta = metav1.TypeMeta{}
		return item, nil
	}
	if _, custom := kube.Representation(object.GroupVersionKind()).(*unstructured.Unstructured); custom {
		return object, nil
	}
	typed := kube.Representation(object.GroupVersionKind())
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, typed); err != nil {
		return nil, err
	}
	typed.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{}) // as clients decode it
	kept, err := kube.Transform(map[schema.GroupVersionKind]limits.Bound{v1.GroupVersion.WithKind(v1.Kind): 0})(typed)
	if err != nil {
		return nil, err
	}
	return kept.(client.Object), nil
}

func metadata(object *unstructured.Unstructured) *metav1.PartialObjectMetadata {
	out := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Name: object.GetName(), Namespace: object.GetNamespace(), UID: object.GetUID(), ResourceVersion: object.GetResourceVersion(),
		Labels: object.GetLabels(), Annotations: object.GetAnnotations(), OwnerReferences: object.GetOwnerReferences(),
	}}
	out.SetGroupVersionKind(object.GroupVersionKind())
	return out
}

// api is the API server, read past the caches.
type api struct {
	client.Reader
	objects []*unstructured.Unstructured
	fail    error
	reads   []string
}

func (a *api) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	a.reads = append(a.reads, key.Name)
	if a.fail != nil {
		return a.fail
	}
	for _, object := range a.objects {
		if client.ObjectKeyFromObject(object) == key && object.GroupVersionKind() == into.GetObjectKind().GroupVersionKind() {
			object.DeepCopyInto(into.(*unstructured.Unstructured))
			return nil
		}
	}
	return apierrors.NewNotFound(schema.GroupResource{Resource: "things"}, key.Name)
}

func resource() *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "app.example.com/v1", "kind": "AppService"}}
	o.SetNamespace("demo")
	o.SetName("web")
	o.SetUID(me)
	return o
}

// thing is an object that the resource controls.
func thing(kind schema.GroupVersionKind, name string, uid types.UID, resourceVersion string) *unstructured.Unstructured {
	o := version(uid, resourceVersion)
	o.SetGroupVersionKind(kind)
	o.SetName(name)
	o.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "app.example.com/v1", Kind: "AppService", Name: "web", UID: me, Controller: ptr.To(true)}})
	return o
}

// record is a release record as Helm labels it.
func record(revision, status, digest string) *unstructured.Unstructured {
	o := thing(kube.SecretKind, "sh.helm.release.v1.web.v"+revision, types.UID("record-"+revision), "5")
	o.SetLabels(map[string]string{
		"owner": "helm", "name": "web", "version": revision, "status": status, v1.LabelManaged: "true", v1.LabelDigest: digest, v1.LabelChartVersion: "1.2.3",
	})
	return o
}

func observer(t *testing.T, shown *informers, live client.Reader) *Observer {
	t.Helper()
	o := New(shown, shown, live)
	for _, kind := range []schema.GroupVersionKind{configMaps, deployments, kube.SecretKind} {
		if _, err := o.Track(t.Context(), kind); err != nil {
			t.Fatal(err)
		}
		o.Include(kind, false, func() error { return nil })
	}
	return o
}

// all requests the content of all objects.
func all(client.Object) bool { return true }

func snapshot(t *testing.T, o *Observer) *Snapshot {
	t.Helper()
	s, err := o.Snapshot(t.Context(), resource(), all)
	require.NoError(t, err)
	return s
}

// keys lists the objects of a snapshot, each with its Go type.
func keys(s *Snapshot) string {
	var out []string
	for key, object := range s.Objects {
		out = append(out, fmt.Sprintf("%s (%s)", key, strings.TrimPrefix(fmt.Sprintf("%T", object), "*")))
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

func TestSnapshotShowsWhatTheResourceControls(t *testing.T) {
	elsewhere := thing(configMaps, "elsewhere", "c-2", "1")
	elsewhere.SetNamespace("other")
	foreign := thing(configMaps, "foreign", "c-3", "1")
	foreign.SetOwnerReferences(nil)
	of := thing(configMaps, "of-another", "c-4", "1")
	of.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "app.example.com/v1", Kind: "AppService", Name: "web", UID: "other", Controller: ptr.To(true)}})
	owned := thing(configMaps, "only-owned", "c-5", "1")
	owned.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "app.example.com/v1", Kind: "AppService", Name: "web", UID: me}})
	secret := thing(kube.SecretKind, "web-config", "s-1", "1")
	shown := &informers{shown: []*unstructured.Unstructured{
		thing(configMaps, "web", "c-1", "1"), thing(deployments, "web", "d-1", "1"), secret, elsewhere, foreign, of, owned, record("1", "deployed", "x"),
	}}
	s := snapshot(t, observer(t, shown, &api{objects: []*unstructured.Unstructured{secret}}))
	if got, want := keys(s), "ConfigMap web (v1.ConfigMap), Deployment web (v1.Deployment), Secret web-config (unstructured.Unstructured)"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if s.Record == nil {
		t.Error("the record is missing")
	}
	if d := s.Object("apps", "Deployment", "web"); d == nil || d.GetUID() != "d-1" {
		t.Errorf("got the Deployment %v", d)
	}
	for _, name := range []string{"api", ""} {
		if s.Object("apps", "Deployment", name) != nil || s.Object("", "Deployment", "web") != nil {
			t.Errorf("there is no Deployment %q", name)
		}
	}
	if !slices.Equal(shown.indexed, []string{"*v1.ConfigMap ConfigMap", "*v1.Deployment Deployment", "*v1.PartialObjectMetadata Secret"}) {
		t.Errorf("got the informers %v", shown.indexed)
	}
}

// The caches keep next to nothing of records of earlier releases.
func TestFormerRecordsAreFoundByTheirNames(t *testing.T) {
	former, odd := record("9", "superseded", "a"), record("8", "superseded", "a")
	for _, secret := range []*unstructured.Unstructured{former, odd} {
		secret.SetLabels(map[string]string{"owner": "helm", "status": "superseded", v1.LabelManaged: "true"})
	}
	odd.SetName("sh.helm.release.v1.web.vx")
	s := snapshot(t, observer(t, &informers{shown: []*unstructured.Unstructured{former, odd, record("10", "deployed", "b")}}, &api{}))
	if len(s.Records) != 2 || s.Records[1].Revision != 9 || s.Records[1].Name != former.GetName() || s.Record != s.Records[0] {
		t.Errorf("got %d records: %+v", len(s.Records), s.Records)
	}
}

func TestTheNewestRecordIsTheOneOfTheHighestRevision(t *testing.T) {
	broken := record("3", "deployed", "x")
	broken.SetLabels(map[string]string{"owner": "helm", "version": "three", v1.LabelManaged: "true"})
	bare := record("4", "deployed", "x")
	bare.SetLabels(map[string]string{"owner": "helm", v1.LabelManaged: "true"})
	theirs := record("11", "deployed", "theirs")
	theirs.SetOwnerReferences(nil)
	cases := map[string]struct {
		shown []*unstructured.Unstructured
		want  *Record
	}{
		"none":                            {nil, nil},
		"one":                             {[]*unstructured.Unstructured{record("1", "deployed", "a")}, &Record{Revision: 1, Status: "deployed", Digest: "a", Chart: "1.2.3"}},
		"several":                         {[]*unstructured.Unstructured{record("2", "superseded", "b"), record("3", "pending-upgrade", "c"), record("1", "superseded", "a")}, &Record{Revision: 3, Status: "pending-upgrade", Digest: "c", Chart: "1.2.3"}},
		"ten comes after nine":            {[]*unstructured.Unstructured{record("9", "superseded", "a"), record("10", "deployed", "b")}, &Record{Revision: 10, Status: "deployed", Digest: "b", Chart: "1.2.3"}},
		"a revision that is not a number": {[]*unstructured.Unstructured{broken, record("2", "deployed", "b")}, &Record{Revision: 2, Status: "deployed", Digest: "b", Chart: "1.2.3"}},
		"only a revision that is none":    {[]*unstructured.Unstructured{bare}, nil},
		"a record of somebody else":       {[]*unstructured.Unstructured{theirs, record("1", "deployed", "a")}, &Record{Revision: 1, Status: "deployed", Digest: "a", Chart: "1.2.3"}},
		"what is left of more":            {[]*unstructured.Unstructured{record("2", "superseded", "b"), record("1", "superseded", "a")}, nil},
		"only a record of somebody else":  {[]*unstructured.Unstructured{theirs}, nil},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			live := &api{}
			s := snapshot(t, observer(t, &informers{shown: test.shown}, live))
			switch {
			case (s.Record == nil) != (test.want == nil):
				t.Errorf("got %v, want %v", s.Record, test.want)
			case s.Record != nil && (s.Record.Revision != test.want.Revision || s.Record.Status != test.want.Status || s.Record.Digest != test.want.Digest || s.Record.Chart != test.want.Chart || s.Record.UID == ""):
				t.Errorf("got %v, want %v", *s.Record, *test.want)
			}
			if len(s.Objects) != 0 {
				t.Errorf("records are among the objects: %s", keys(s))
			}
			if len(live.reads) != 0 {
				t.Errorf("payloads of records were read: %v", live.reads)
			}
		})
	}
}

func TestARenderedSecretIsNoRecord(t *testing.T) {
	labels := map[string]string{"owner": "helm", "version": "7", "status": "deployed"}
	named := thing(kube.SecretKind, "web-helm", "s-1", "1")
	named.SetLabels(labels)
	typed := thing(kube.SecretKind, "sh.helm.release.v1.mine", "s-2", "1")
	typed.SetLabels(labels)
	typed.Object["type"] = "Opaque"
	config := thing(configMaps, "sh.helm.release.v1.config", "c-1", "1")
	config.SetLabels(labels)
	unlabeled := thing(kube.SecretKind, "sh.helm.release.v1.unlabeled", "s-3", "1")
	for name, object := range map[string]*unstructured.Unstructured{
		"by its name": named, "by its type, where it is known": typed, "by its kind": config, "by its labels": unlabeled,
	} {
		t.Run(name, func(t *testing.T) {
			o := observer(t, &informers{shown: []*unstructured.Unstructured{record("1", "deployed", "a")}}, &api{})
			o.Wrote(me, object)
			s := snapshot(t, o)
			if s.Record == nil || s.Record.Revision != 1 || len(s.Objects) != 1 {
				t.Errorf("got the record %v and %d objects, want release 1 and the object", s.Record, len(s.Objects))
			}
		})
	}
	whole := record("1", "deployed", "a")
	whole.Object["type"] = "helm.sh/release.v1"
	if !IsRecord(whole) {
		t.Error("a record of the right type is none")
	}
}

func TestWhatIsReadOfASecret(t *testing.T) {
	stolen := thing(kube.SecretKind, "web-config", "s-1", "2")
	stolen.SetOwnerReferences(nil)
	replaced := thing(kube.SecretKind, "web-config", "s-2", "3")
	replaced.SetOwnerReferences(nil)
	adopted := thing(kube.SecretKind, "web-config", "s-1", "2")
	adopted.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "Widget", Name: "w", UID: "w", Controller: ptr.To(true)}})
	cases := map[string]struct {
		live  *unstructured.Unstructured
		shown bool
	}{
		"it is as the informer shows it":         {thing(kube.SecretKind, "web-config", "s-1", "1"), true},
		"it was changed":                         {thing(kube.SecretKind, "web-config", "s-1", "2"), true},
		"it is gone":                             {nil, false},
		"it was taken from the resource":         {stolen, false},
		"it was taken over by another":           {adopted, false},
		"it was replaced by somebody else's own": {replaced, false},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			live := &api{}
			if test.live != nil {
				live.objects = append(live.objects, test.live)
			}
			shown := &informers{shown: []*unstructured.Unstructured{thing(kube.SecretKind, "web-config", "s-1", "1")}}
			s := snapshot(t, observer(t, shown, live))
			if got := len(s.Objects) == 1; got != test.shown {
				t.Errorf("the snapshot has it: %t, want %t", got, test.shown)
			}
		})
	}
}

// Anyone can make large objects that name the resource as their controller: only those that are wanted are read.
func TestWhatIsReadOfLargeObjects(t *testing.T) {
	large := thing(configMaps, "web", "u-1", "1")
	large.SetAnnotations(map[string]string{"note": strings.Repeat("x", 100<<10)})
	cases := map[string]struct {
		object *unstructured.Unstructured
		wanted func(client.Object) bool
		reads  int
	}{
		"a large one":                {large, all, 1},
		"a large one, not wanted":    {large, func(client.Object) bool { return false }, 0},
		"a large one, without a say": {large, nil, 0},
		"a small one":                {thing(deployments, "web", "u-1", "1"), all, 0},
		"a Secret":                   {thing(kube.SecretKind, "web", "u-1", "1"), all, 1},
		"a Secret, not wanted":       {thing(kube.SecretKind, "web", "u-1", "1"), nil, 0},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			live := &api{objects: []*unstructured.Unstructured{test.object}}
			o := observer(t, &informers{shown: live.objects}, live)
			s, err := o.Snapshot(t.Context(), resource(), test.wanted)
			if err != nil || len(live.reads) != test.reads {
				t.Fatalf("got %v and the error %v, want %d reads", live.reads, err, test.reads)
			}
			if whole := !kube.IsOutline(s.Objects[kube.KeyOf(test.object)]); whole != (test.reads > 0 || name == "a small one") {
				t.Errorf("the snapshot has it whole: %t", whole)
			}
		})
	}
}

func TestSnapshotPassesOnWhatItCannotRead(t *testing.T) {
	cause := errors.New("not now")
	cases := map[string]struct {
		shown *informers
		live  *api
		want  string
	}{
		"a list":    {&informers{fail: func(kind string) error { return map[string]error{"Deployment": cause}[kind] }}, &api{}, "cannot list Deployment: not now"},
		"a payload": {&informers{shown: []*unstructured.Unstructured{thing(kube.SecretKind, "web-config", "s-1", "1")}}, &api{fail: cause}, "cannot read Secret web-config: not now"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			fail := test.shown.fail
			test.shown.fail = nil
			o := observer(t, test.shown, test.live)
			test.shown.fail = fail
			if _, err := o.Snapshot(t.Context(), resource(), all); !errors.Is(err, cause) || err.Error() != test.want {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func TestTrack(t *testing.T) {
	t.Run("a kind is indexed once, however many ask for it", func(t *testing.T) {
		shown := &informers{}
		o := New(shown, shown, &api{})
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				object, err := o.Track(context.Background(), configMaps)
				if err != nil || object.GetObjectKind().GroupVersionKind() != configMaps {
					t.Errorf("got %v and %v", object, err)
				}
			})
		}
		group.Wait()
		if len(shown.indexed) != 1 {
			t.Errorf("got %v, want one index", shown.indexed)
		}
	})
	t.Run("a kind that cannot be indexed is not listed", func(t *testing.T) {
		cause := errors.New("no such kind")
		shown := &informers{fail: func(string) error { return cause }}
		o := New(shown, shown, &api{})
		if _, err := o.Track(t.Context(), configMaps); !errors.Is(err, cause) || err.Error() != "cannot watch ConfigMap: no such kind" {
			t.Errorf("got %v", err)
		}
		snapshot(t, o)
		shown.fail = nil
		if _, err := o.Track(t.Context(), configMaps); err != nil {
			t.Errorf("the second time: %v", err)
		}
	})
	t.Run("Secrets are watched as metadata, built-in kinds as their types, everything else whole", func(t *testing.T) {
		shown := &informers{}
		o := New(shown, shown, &api{})
		for kind, want := range map[schema.GroupVersionKind]string{kube.SecretKind: "*v1.PartialObjectMetadata", configMaps: "*v1.ConfigMap", routes: "*unstructured.Unstructured"} {
			object, err := o.Track(t.Context(), kind)
			require.NoError(t, err)
			if got := fmt.Sprintf("%T", object); got != want {
				t.Errorf("%s: got %s, want %s", kind.Kind, got, want)
			}
		}
	})
}

// An object of a kind that cannot be seen is not taken for missing, nor for what an old list of the informer says.
func TestAKindThatCannotBeSeenIsLeftOut(t *testing.T) {
	refused := errors.New("the operator may not list and watch it")
	cases := map[string]struct {
		unseen schema.GroupVersionKind
		key    kube.Key
		want   error
	}{
		"an object of the kind":          {deployments, kube.Key{GroupKind: deployments.GroupKind(), Name: "web"}, refused},
		"an object of another kind":      {deployments, kube.Key{GroupKind: configMaps.GroupKind(), Name: "web"}, nil},
		"any object without the records": {kube.SecretKind, kube.Key{GroupKind: configMaps.GroupKind(), Name: "web"}, refused},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			shown := &informers{shown: []*unstructured.Unstructured{thing(deployments, "web", "d-1", "9"), thing(configMaps, "web", "c-1", "9")}}
			o := New(shown, shown, &api{})
			for _, kind := range []schema.GroupVersionKind{configMaps, deployments, kube.SecretKind} {
				var err error
				if kind == test.unseen {
					err = refused
				}
				if _, err := o.Track(t.Context(), kind); err != nil {
					t.Fatal(err)
				}
				o.Include(kind, false, func() error { return err })
			}
			s := snapshot(t, o)
			if got := s.Sees([]kube.Key{test.key}); !errors.Is(got, test.want) || got == nil != (test.want == nil) {
				t.Errorf("got %v, want %v", got, test.want)
			}
			if s.Object(test.unseen.Group, test.unseen.Kind, "web") != nil || len(s.Unseen) != 1 || s.Unseen[0].GroupVersionKind != test.unseen {
				t.Errorf("got the objects %s, unseen are %v", keys(s), s.Unseen)
			}
		})
	}
}

// The informers continue while a snapshot is made: what the journal drops, because its event has come, may have come after
// the list that the snapshot is made of.
func TestSnapshotsMissNothingThatIsSeenWhileTheyAreMade(t *testing.T) {
	pending, deployed := record("1", "pending-install", "a"), record("1", "deployed", "a")
	deployed.SetResourceVersion("10")
	old, written := thing(deployments, "web", "d-1", "9"), thing(deployments, "web", "d-1", "10")
	cases := map[string]struct {
		shown *unstructured.Unstructured
		note  func(*Observer)
		event *unstructured.Unstructured
		gone  bool
		check func(*Snapshot) error
	}{
		"an object that was created": {
			nil, func(o *Observer) { o.Wrote(me, written) }, written, false,
			func(s *Snapshot) error {
				if s.Object("apps", "Deployment", "web") == nil {
					return errors.New("the Deployment is missing")
				}
				return nil
			},
		},
		"an object that was changed": {
			old, func(o *Observer) { o.Wrote(me, written) }, written, false,
			func(s *Snapshot) error {
				if got := s.Object("apps", "Deployment", "web"); got == nil || got.GetResourceVersion() != "10" {
					return fmt.Errorf("the Deployment is shown as %v", got)
				}
				return nil
			},
		},
		"an object that was deleted": {
			old, func(o *Observer) { o.Deleted(me, old) }, old, true,
			func(s *Snapshot) error {
				if s.Object("apps", "Deployment", "web") != nil {
					return errors.New("the Deployment is still shown")
				}
				return nil
			},
		},
		"a record that was marked deployed": {
			pending, func(o *Observer) { o.Wrote(me, metadata(deployed)) }, deployed, false,
			func(s *Snapshot) error {
				if s.Record == nil || s.Record.Status != "deployed" {
					return fmt.Errorf("the record is shown as %v", s.Record)
				}
				return nil
			},
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			shown := &informers{}
			if test.shown != nil {
				shown.shown = append(shown.shown, test.shown)
			}
			o := observer(t, shown, &api{})
			test.note(o)
			shown.listed = func(kind string) {
				if kind == kube.SecretKind.Kind { // the last of the lists
					o.Seen(me, test.event, test.gone)
				}
			}
			assert.NoError(t, test.check(snapshot(t, o)))
		})
	}
}

func TestObserverIsSafeForConcurrentUse(t *testing.T) {
	secret := thing(kube.SecretKind, "web-config", "s-1", "1")
	shown := &informers{shown: []*unstructured.Unstructured{secret, thing(configMaps, "web", "c-1", "1")}}
	o := New(shown, shown, emptyAPI{})
	var group sync.WaitGroup
	for _, work := range []func(int){
		func(int) { _, _ = o.Snapshot(context.Background(), resource(), all) },
		func(i int) { o.Wrote(me, thing(kube.SecretKind, "web-config", "s-1", fmt.Sprint(i))) },
		func(i int) { o.Seen(me, thing(configMaps, "web", "c-1", fmt.Sprint(i)), i%7 == 0) },
		func(i int) { o.Deleted(me, thing(configMaps, "web", "c-1", fmt.Sprint(i))) },
		func(i int) {
			_, _ = o.Track(context.Background(), []schema.GroupVersionKind{configMaps, deployments, kube.SecretKind}[i%3])
		},
		func(i int) {
			if i%50 == 0 {
				o.Forget(me)
			}
		},
	} {
		group.Go(func() {
			for i := range 200 {
				work(i)
			}
		})
	}
	group.Wait()
}

// emptyAPI holds nothing.
type emptyAPI struct{ client.Reader }

func (emptyAPI) Get(_ context.Context, key client.ObjectKey, _ client.Object, _ ...client.GetOption) error {
	return apierrors.NewNotFound(schema.GroupResource{Resource: "things"}, key.Name)
}
