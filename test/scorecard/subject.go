package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/discovery"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/config"
	"sigs.k8s.io/yaml"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/try"
	"github.com/example/appservice-operator/tools/poll"
)

// pace is the time between two looks.
const pace = 250 * time.Millisecond

// subject is the cluster and the example that is tried in it.
type subject struct {
	client    client.Client
	discovery discovery.DiscoveryInterface
	namespace string
	example   *v1.AppService
	log       io.Writer

	created *v1.AppService
}

func newSubject(bundle, namespace string, log io.Writer) *subject {
	example, err := firstExample(bundle)
	if err != nil {
		try.Fail("cannot find an example in the bundle: %w", err)
	}
	cluster, err := config.GetConfig()
	if err != nil {
		try.Fail("cannot find a cluster: %w", err)
	}
	cluster.QPS = -1
	scheme := runtime.NewScheme()
	try.Do(errors.Join(clientgoscheme.AddToScheme(scheme), v1.AddToScheme(scheme)))
	direct := try.Get(client.New(cluster, client.Options{Scheme: scheme}))
	kinds := try.Get(discovery.NewDiscoveryClientForConfig(cluster))
	return &subject{client: direct, discovery: kinds, namespace: namespace, example: example, log: log}
}

// firstExample reads the first of the bundle's alm-examples, the one that consoles offer.
func firstExample(bundle string) (*v1.AppService, error) {
	files, err := filepath.Glob(filepath.Join(bundle, "manifests", "*.clusterserviceversion.yaml"))
	if err != nil || len(files) != 1 {
		return nil, fmt.Errorf("%s has %d ClusterServiceVersions, want one", bundle, len(files))
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		return nil, err
	}
	csv := &metav1.PartialObjectMetadata{}
	if err := yaml.Unmarshal(text, csv); err != nil {
		return nil, err
	}
	var examples []*v1.AppService
	if err := json.Unmarshal([]byte(csv.Annotations["alm-examples"]), &examples); err != nil {
		return nil, err
	}
	if len(examples) == 0 {
		return nil, errors.New("there are no alm-examples")
	}
	return examples[0], nil
}

func (s *subject) say(format string, args ...any) {
	_, _ = fmt.Fprintf(s.log, format+"\n", args...)
}

// create makes the example, changed or not.
func (s *subject) create(ctx context.Context, change func(*v1.AppService)) *v1.AppService {
	app := s.example.DeepCopy()
	app.Namespace = s.namespace
	if change != nil {
		change(app)
	}
	if err := s.client.Create(ctx, app); err != nil {
		try.Fail("cannot create the example: %w", err)
	}
	s.created = app.DeepCopy()
	return app
}

// untilReady waits until an AppService is Ready in its present generation.
func (s *subject) untilReady(ctx context.Context, app *v1.AppService) {
	s.untilTrue(ctx, app, v1.ConditionReady)
}

func (s *subject) untilTrue(ctx context.Context, app *v1.AppService, kind string) {
	try.Do(until(ctx, func(ctx context.Context) error {
		if err := s.client.Get(ctx, client.ObjectKeyFromObject(app), app); err != nil {
			return err
		}
		condition := meta.FindStatusCondition(app.Status.Conditions, kind)
		if condition == nil || condition.ObservedGeneration != app.Generation {
			return fmt.Errorf("AppService %s says nothing about %s: does the operator run, and serve namespace %s?", app.Name, kind, s.namespace)
		}
		if condition.Status != metav1.ConditionTrue {
			return fmt.Errorf("%s of AppService %s is %s %s: %s", kind, app.Name, condition.Status, condition.Reason, condition.Message)
		}
		return nil
	}))
}

// remove deletes the objects of the test, retained claims included, and waits until it is gone.
func (s *subject) remove(ctx context.Context) error {
	if s.created == nil {
		return nil
	}
	if err := client.IgnoreNotFound(s.client.Delete(ctx, s.created.DeepCopy())); err != nil {
		return err
	}
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: s.created.Name}}
	if err := client.IgnoreNotFound(s.client.Delete(ctx, claim)); err != nil {
		return err
	}
	return until(ctx, func(ctx context.Context) error {
		left, err := s.dependents(ctx, s.created)
		if err == nil && len(left) > 0 {
			err = fmt.Errorf("cannot clean up: still there: %v", names(left))
		}
		return err
	})
}

// dependents are all objects in the namespace that belong to an AppService, by owner or by label, whatever their kind.
func (s *subject) dependents(ctx context.Context, app *v1.AppService) ([]metav1.PartialObjectMetadata, error) {
	// Groups whose servers do not answer say nothing about ours.
	lists, err := discovery.ServerPreferredNamespacedResources(s.discovery)
	if err != nil && !discovery.IsGroupDiscoveryFailedError(err) {
		return nil, err
	}
	var found []metav1.PartialObjectMetadata
	for _, list := range lists {
		for _, kind := range list.APIResources {
			// Events outlive what they are about, and metrics.k8s.io is not storage.
			if !slices.Contains(kind.Verbs, "list") || !slices.Contains(kind.Verbs, "delete") || kind.Kind == "Event" {
				continue
			}
			objects := &metav1.PartialObjectMetadataList{}
			objects.APIVersion, objects.Kind = list.GroupVersion, kind.Kind+"List"
			if err := s.client.List(ctx, objects, client.InNamespace(s.namespace)); err != nil {
				return nil, fmt.Errorf("cannot list %s: %w", kind.Name, err)
			}
			for _, object := range objects.Items {
				if belongs(object, app) {
					object.APIVersion, object.Kind = list.GroupVersion, kind.Kind
					found = append(found, object)
				}
			}
		}
	}
	return found, nil
}

func belongs(object metav1.PartialObjectMetadata, app *v1.AppService) bool {
	owned := slices.ContainsFunc(object.OwnerReferences, func(owner metav1.OwnerReference) bool { return owner.UID == app.UID })
	return owned || object.Labels["app.kubernetes.io/instance"] == app.Name
}

// versions are the resource versions of an AppService and of all that belongs to it.
func (s *subject) versions(ctx context.Context, app *v1.AppService) (map[string]string, error) {
	objects, err := s.dependents(ctx, app)
	if err != nil {
		return nil, err
	}
	if err := s.client.Get(ctx, client.ObjectKeyFromObject(app), app); err != nil {
		return nil, err
	}
	versions := map[string]string{"AppService " + app.Name: app.ResourceVersion}
	for _, object := range objects {
		versions[object.Kind+" "+object.Name] = object.ResourceVersion
	}
	return versions, nil
}

// difference names the objects that are in only one of two lists, or in another version.
func difference(before, now map[string]string) string {
	var moved []string
	for name, version := range now {
		if before[name] != version {
			moved = append(moved, name)
		}
	}
	for name := range before {
		if _, found := now[name]; !found {
			moved = append(moved, name+" (gone)")
		}
	}
	slices.Sort(moved)
	return strings.Join(moved, ", ")
}

func names(objects []metav1.PartialObjectMetadata) []string {
	var names []string
	for _, object := range objects {
		names = append(names, object.Kind+" "+object.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func quantity(text string) resource.Quantity { return resource.MustParse(text) }

// until waits until check returns nil. If the time is over before, its last error says what was missing.
func until(ctx context.Context, check func(context.Context) error) error {
	if err := poll.Paced(ctx, poll.Every(pace), check); err != nil {
		return fmt.Errorf("the time was over: %w", err)
	}
	return nil
}
