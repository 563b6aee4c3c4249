package operator

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/example/appservice-operator/internal/engine/watch"
)

// reviewed is a manager whose account has a right or not, and is asked for it.
type reviewed struct {
	manager.Manager
	client.Client
	granted bool
	asked   int
}

func (r *reviewed) GetClient() client.Client { return r }

func (r *reviewed) GetRESTMapper() meta.RESTMapper {
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(watch.CRDKind, meta.RESTScopeRoot)
	return mapper
}

func (r *reviewed) Create(_ context.Context, object client.Object, _ ...client.CreateOption) error {
	r.asked++
	object.(*authorizationv1.SelfSubjectAccessReview).Status.Allowed = r.granted
	return nil
}

func TestARightIsAskedForUntilItIsThere(t *testing.T) {
	mgr := &reviewed{}
	may := onceGranted(rights(mgr))
	for _, test := range []struct {
		granted bool
		asked   int // so far: two verbs each time
	}{{false, 2}, {false, 4}, {true, 6}, {true, 6}} {
		mgr.granted = test.granted
		allowed, err := may(t.Context(), watch.CRDKind)
		require.NoError(t, err)
		assert.Equal(t, test.granted, allowed)
		assert.Equal(t, test.asked, mgr.asked)
	}
}
