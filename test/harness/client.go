package harness

import (
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The requests below fail the test if the API server refuses them.

// Create makes an object.
func (c *Cluster) Create(t *testing.T, object client.Object, options ...client.CreateOption) {
	t.Helper()
	succeeds(t, "create", object, c.Client.Create(t.Context(), object, options...))
}

// Get reads an object.
func (c *Cluster) Get(t *testing.T, key client.ObjectKey, object client.Object) {
	t.Helper()
	if err := c.Client.Get(t.Context(), key, object); err != nil {
		t.Fatalf("cannot get %T %s: %v", object, key, err)
	}
}

// Refresh reads an object again.
func (c *Cluster) Refresh(t *testing.T, object client.Object) {
	t.Helper()
	c.Get(t, client.ObjectKeyFromObject(object), object)
}

// List reads objects.
func (c *Cluster) List(t *testing.T, list client.ObjectList, options ...client.ListOption) {
	t.Helper()
	if err := c.Client.List(t.Context(), list, options...); err != nil {
		t.Fatalf("cannot list %T: %v", list, err)
	}
}

// Edit reads an object, changes it and writes it, as kubectl edit does, and repeats this while there is a conflict: controllers write whenever they
// like.
func (c *Cluster) Edit(t *testing.T, object client.Object, change func(), options ...client.UpdateOption) {
	t.Helper()
	Eventually(t, "edit "+object.GetName(), func() error {
		if err := c.Client.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
			return err
		}
		change()
		return c.Client.Update(t.Context(), object, options...)
	})
}

// Patch changes an object.
func (c *Cluster) Patch(t *testing.T, object client.Object, patch client.Patch, options ...client.PatchOption) {
	t.Helper()
	succeeds(t, "patch", object, c.Client.Patch(t.Context(), object, patch, options...))
}

// Delete deletes an object.
func (c *Cluster) Delete(t *testing.T, object client.Object, options ...client.DeleteOption) {
	t.Helper()
	succeeds(t, "delete", object, c.Client.Delete(t.Context(), object, options...))
}

func succeeds(t *testing.T, verb string, object client.Object, err error) {
	t.Helper()
	require.NoError(t, err, "cannot %s %T %s: %v", verb, object, client.ObjectKeyFromObject(object), err)
}
