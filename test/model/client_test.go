package model

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	fieldset "k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/example/appservice-operator/internal/engine/kube"
)

// connection is the client of one process: once that has died, nothing that it sends arrives any more. Methods that are not implemented panic.
type connection struct {
	client.Client
	world *world
	// informers replace the server for reads; nil for none.
	informers *informers
	dead      *bool
}

func (c *connection) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	if *c.dead {
		return errLost
	}
	kind := kindOf(into)
	of := kube.Key{GroupKind: kind.GroupKind(), Name: key.Name}
	from := c.world.server.objects[of]
	if c.informers != nil {
		from = c.informers.store[of]
	}
	if from == nil {
		return apierrors.NewNotFound(schema.GroupResource{Group: kind.Group, Resource: kind.Kind}, key.Name)
	}
	return fill(into, from)
}

// fill copies an object into another representation of it.
func fill(into client.Object, from *unstructured.Unstructured) error {
	if whole, ok := into.(*unstructured.Unstructured); ok {
		whole.Object = runtime.DeepCopyJSON(from.Object)
		return nil
	}
	text, err := json.Marshal(from)
	if err != nil {
		return err
	}
	kind := kindOf(into)
	if err := json.Unmarshal(text, into); err != nil {
		return err
	}
	into.GetObjectKind().SetGroupVersionKind(kind)
	return nil
}

func (c *connection) List(_ context.Context, list client.ObjectList, options ...client.ListOption) error {
	if *c.dead {
		return errLost
	}
	kind, err := apiutil.GVKForObject(list, scheme.Scheme)
	if err != nil {
		return err
	}
	of := schema.GroupKind{Group: kind.Group, Kind: strings.TrimSuffix(kind.Kind, "List")}
	wanted := (&client.ListOptions{}).ApplyOptions(options)
	items := []any{}
	for _, key := range sorted(c.world.server.objects) {
		if object := c.world.server.objects[key]; key.GroupKind == of && selects(wanted, object) {
			items = append(items, object.Object)
		}
	}
	text, err := json.Marshal(map[string]any{"items": items})
	if err != nil {
		return err
	}
	return json.Unmarshal(text, list)
}

// selects reports whether a list has an object. It knows only the field phase.
func selects(options *client.ListOptions, object *unstructured.Unstructured) bool {
	phase, _, _ := unstructured.NestedString(object.Object, "status", "phase")
	return (options.LabelSelector == nil || options.LabelSelector.Matches(labels.Set(object.GetLabels()))) &&
		(options.FieldSelector == nil || options.FieldSelector.Matches(fieldset.Set{"status.phase": phase}))
}

// kindOf returns the kind of an object that may be typed.
func kindOf(object client.Object) schema.GroupVersionKind {
	if kind := object.GetObjectKind().GroupVersionKind(); !kind.Empty() {
		return kind
	}
	kind, _ := apiutil.GVKForObject(object, scheme.Scheme) // it is known, or found nowhere
	return kind
}

func (c *connection) Patch(_ context.Context, object client.Object, patch client.Patch, options ...client.PatchOption) error {
	if *c.dead {
		return errLost
	}
	body, err := patch.Data(object)
	if err != nil {
		return err
	}
	if patch.Type() == types.JSONPatchType && isRecord(kube.KeyOf(object)) {
		return c.world.server.write(c.dead, "record", kube.KeyOf(object), false, func() error {
			written, err := c.world.server.patch(kube.KeyOf(object), body)
			if err != nil {
				return err
			}
			return fill(object, written)
		})
	}
	opts := (&client.PatchOptions{}).ApplyOptions(options)
	if patch.Type() == types.MergePatchType && len(opts.DryRun) == 0 {
		return c.world.server.write(c.dead, "patch", kube.KeyOf(object), false, func() error {
			written, err := c.world.server.merge(kube.KeyOf(object), body, opts.FieldManager)
			if err != nil {
				return err
			}
			return fill(object, written)
		})
	}
	if patch.Type() != types.ApplyPatchType {
		return fmt.Errorf("the operator sends %s to %s", body, kube.KeyOf(object))
	}
	force, dryRun := opts.Force != nil && *opts.Force, len(opts.DryRun) > 0
	return c.world.server.write(c.dead, "apply", kube.KeyOf(object), dryRun, func() error {
		written, err := c.world.server.apply(body, opts.FieldManager, force, dryRun)
		if err != nil {
			return err
		}
		return fill(object, written)
	})
}

// Create is asked by dry runs only, for what admission would make of an object: nothing.
func (c *connection) Create(_ context.Context, object client.Object, options ...client.CreateOption) error {
	if *c.dead {
		return errLost
	}
	if len((&client.CreateOptions{}).ApplyOptions(options).DryRun) == 0 {
		return fmt.Errorf("the operator creates %s without an apply", kube.KeyOf(object))
	}
	return nil
}

func (c *connection) Delete(_ context.Context, object client.Object, options ...client.DeleteOption) error {
	if *c.dead {
		return errLost
	}
	opts := (&client.DeleteOptions{}).ApplyOptions(options)
	return c.world.server.write(c.dead, "delete", kube.KeyOf(object), false, func() error {
		return c.world.server.delete(kube.KeyOf(object), opts.Preconditions, opts.PropagationPolicy)
	})
}

func (c *connection) Status() client.SubResourceWriter { return &statusOf{connection: c} }

type statusOf struct {
	client.SubResourceWriter
	connection *connection
}

func (s *statusOf) Patch(_ context.Context, object client.Object, patch client.Patch, _ ...client.SubResourcePatchOption) error {
	if *s.connection.dead {
		return errLost
	}
	body, err := patch.Data(object)
	if err != nil {
		return err
	}
	return s.connection.world.server.write(s.connection.dead, "status", kube.KeyOf(object), false, func() error {
		written, err := s.connection.world.server.mergeStatus(kube.KeyOf(object), body)
		if err != nil {
			return err
		}
		return fill(object, written)
	})
}

// Secrets is the client of release records.
func (c *connection) Secrets(string) typedcorev1.SecretInterface { return &secrets{connection: c} }

type secrets struct {
	typedcorev1.SecretInterface
	connection *connection
}

func recordKey(name string) kube.Key {
	return kube.Key{GroupKind: kube.SecretKind.GroupKind(), Name: name}
}

func (s *secrets) Get(ctx context.Context, name string, _ metav1.GetOptions) (*corev1.Secret, error) {
	into := &corev1.Secret{}
	into.SetGroupVersionKind(kube.SecretKind)
	return into, s.connection.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, into)
}

func (s *secrets) Create(_ context.Context, secret *corev1.Secret, _ metav1.CreateOptions) (*corev1.Secret, error) {
	return s.put(secret, func(there *unstructured.Unstructured) error {
		if there != nil {
			return apierrors.NewAlreadyExists(schema.GroupResource{Resource: "secrets"}, secret.Name)
		}
		return nil
	})
}

func (s *secrets) Update(_ context.Context, secret *corev1.Secret, _ metav1.UpdateOptions) (*corev1.Secret, error) {
	return s.put(secret, func(there *unstructured.Unstructured) error {
		if there == nil {
			return apierrors.NewNotFound(schema.GroupResource{Resource: "secrets"}, secret.Name)
		}
		return precondition(recordKey(secret.Name), there, secret.UID, secret.ResourceVersion)
	})
}

func (s *secrets) put(secret *corev1.Secret, allowed func(there *unstructured.Unstructured) error) (*corev1.Secret, error) {
	if *s.connection.dead {
		return nil, errLost
	}
	written := &corev1.Secret{}
	key := recordKey(secret.Name)
	server := s.connection.world.server
	return written, server.write(s.connection.dead, "record", key, false, func() error {
		there := server.objects[key]
		if err := allowed(there); err != nil {
			return err
		}
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(secret)
		if err != nil {
			return err
		}
		object := &unstructured.Unstructured{Object: content}
		object.SetGroupVersionKind(kube.SecretKind)
		if there != nil {
			object.SetUID(there.GetUID())
		}
		return fill(written, server.store(key, object))
	})
}

func (s *secrets) Delete(_ context.Context, name string, options metav1.DeleteOptions) error {
	if *s.connection.dead {
		return errLost
	}
	server := s.connection.world.server
	return server.write(s.connection.dead, "delete", recordKey(name), false, func() error { return server.delete(recordKey(name), options.Preconditions, nil) })
}
