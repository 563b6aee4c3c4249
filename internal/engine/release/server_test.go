package release

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/livestate"
)

// server stands for an API server: it keeps objects, gives them UIDs, and heeds the UIDs of requests.
type server struct {
	client.WithWatch
	// log of the requests that would write, in order.
	log []string
	// refuse returns the answer to a request, by its line in the log; nil lets it through.
	refuse func(request string) error

	uids int
}

func newServer(t *testing.T, objects ...*unstructured.Unstructured) *server {
	t.Helper()
	s := &server{refuse: func(string) error { return nil }}
	builder := fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme)
	for _, object := range objects {
		builder = builder.WithObjects(object.DeepCopy())
	}
	s.WithWatch = interceptor.NewClient(builder.Build(), interceptor.Funcs{
		Delete: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.DeleteOption) error {
			return s.delete(ctx, c, object, options)
		},
		Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			if patch.Type() == types.ApplyPatchType {
				return s.apply(ctx, c, object, patch, options...)
			}
			if err := s.request("patch " + kube.KeyOf(object).String()); err != nil {
				return err
			}
			return c.Patch(ctx, object, patch, options...)
		},
		Create: func(_ context.Context, _ client.WithWatch, object client.Object, options ...client.CreateOption) error {
			if len((&client.CreateOptions{}).ApplyOptions(options).DryRun) > 0 {
				return s.request("try to create " + object.GetObjectKind().GroupVersionKind().Kind)
			}
			return fmt.Errorf("objects are applied, never created")
		},
		Update: func(context.Context, client.WithWatch, client.Object, ...client.UpdateOption) error {
			return fmt.Errorf("objects are applied, never updated")
		},
	})
	return s
}

func (s *server) request(line string) error {
	s.log = append(s.log, line)
	return s.refuse(line)
}

func (s *server) apply(ctx context.Context, c client.WithWatch, answer client.Object, patch client.Patch, options ...client.PatchOption) error {
	data, err := patch.Data(answer)
	if err != nil {
		return err
	}
	wanted := &unstructured.Unstructured{}
	if err := wanted.UnmarshalJSON(data); err != nil {
		return err
	}
	opts := (&client.PatchOptions{}).ApplyOptions(options)
	line := "apply " + kube.KeyOf(wanted).String()
	if opts.Force != nil && *opts.Force {
		line += " by force"
	}
	if len(opts.DryRun) > 0 {
		line = "try to " + line
	}
	if opts.FieldManager != FieldManager {
		line += " as " + opts.FieldManager
	}
	if err := s.request(line); err != nil {
		return err
	}
	there := &unstructured.Unstructured{}
	there.SetGroupVersionKind(wanted.GroupVersionKind())
	if err := c.Get(ctx, client.ObjectKeyFromObject(wanted), there); client.IgnoreNotFound(err) != nil {
		return err
	}
	if uid := wanted.GetUID(); uid != "" && uid != there.GetUID() {
		return conflict(wanted)
	}
	if version := wanted.GetResourceVersion(); version != "" {
		if there.GetName() != "" && version != there.GetResourceVersion() {
			return conflict(wanted)
		}
		wanted.SetResourceVersion("")
	}
	if len(opts.DryRun) > 0 {
		answer.(*unstructured.Unstructured).Object = wanted.Object
		return nil
	}
	applied := []client.ApplyOption{client.FieldOwner(opts.FieldManager)}
	if opts.Force != nil && *opts.Force {
		applied = append(applied, client.ForceOwnership)
	}
	if err := c.Apply(ctx, client.ApplyConfigurationFromUnstructured(wanted), applied...); err != nil {
		return err
	}
	if err := c.Get(ctx, client.ObjectKeyFromObject(wanted), there); err != nil {
		return err
	}
	if there.GetUID() == "" {
		s.uids++
		there.SetUID(types.UID(fmt.Sprintf("uid-%d", s.uids)))
		if err := c.Update(ctx, there); err != nil {
			return err
		}
	}
	if data, err = json.Marshal(there); err != nil {
		return err
	}
	return json.Unmarshal(data, answer)
}

func (s *server) delete(ctx context.Context, c client.WithWatch, object client.Object, options []client.DeleteOption) error {
	opts := (&client.DeleteOptions{}).ApplyOptions(options)
	line := "delete " + kube.KeyOf(object).String()
	if opts.PropagationPolicy != nil {
		line += " in the " + strings.ToLower(string(*opts.PropagationPolicy))
	}
	if err := s.request(line); err != nil {
		return err
	}
	there := &unstructured.Unstructured{}
	there.SetGroupVersionKind(object.GetObjectKind().GroupVersionKind())
	if err := c.Get(ctx, client.ObjectKeyFromObject(object), there); err != nil {
		return err
	}
	only := opts.Preconditions
	if only == nil || only.UID == nil || *only.UID != there.GetUID() || only.ResourceVersion != nil && *only.ResourceVersion != there.GetResourceVersion() {
		return conflict(object)
	}
	return c.Delete(ctx, there)
}

func conflict(object client.Object) error {
	return apierrors.NewConflict(schema.GroupResource{Resource: "objects"}, object.GetName(), fmt.Errorf("another UID"))
}

func invalid(name string) error {
	return apierrors.NewInvalid(schema.GroupKind{Kind: "Thing"}, name, nil)
}

// has returns an object of the server, nil if there is none.
func (s *server) has(t *testing.T, like client.Object) *unstructured.Unstructured {
	t.Helper()
	out := &unstructured.Unstructured{}
	out.SetGroupVersionKind(like.GetObjectKind().GroupVersionKind())
	err := s.Get(t.Context(), client.ObjectKeyFromObject(like), out)
	if apierrors.IsNotFound(err) {
		return nil
	}
	require.NoError(t, err)
	return out
}

// noted is what the journal of an observer, that sees nothing, adds to what it sees.
func noted(t *testing.T, observer *livestate.Observer) map[kube.Key]client.Object {
	t.Helper()
	snapshot, err := observer.Snapshot(t.Context(), owner(t), nil)
	require.NoError(t, err)
	return snapshot.Objects
}

// newApplier returns an applier for the owner, and what notes its writes. Live is what it reads past the caches.
func newApplier(t *testing.T, s *server, live client.Reader) (*applier, *livestate.Observer) {
	t.Helper()
	observer := livestate.New(nil, nil, nil)
	actor := &Actor{writer: &livestate.Writer{Client: s, Observer: observer}, live: live}
	session := actor.writer.Begin(owner(t).GetUID())
	t.Cleanup(session.End)
	return actor.applier(session, owner(t), nil), observer
}

// shown is an object as a server shows it.
func (s *server) shown(t *testing.T, like *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	live := s.has(t, like)
	if live == nil {
		t.Fatalf("%s is not there", like.GetName())
	}
	return live
}
