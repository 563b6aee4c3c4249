package plugin

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// Only a detached Job stays, once it has begun.
func TestACommandThatDoesNotRunLeavesNoJob(t *testing.T) {
	policy := &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Name: "web-run-1", Namespace: "shop"}}
	for name, test := range map[string]struct {
		detach, interrupted, refused bool
		jobs                         int
	}{
		"interrupted while it is created":     {interrupted: true},
		"detached, and interrupted meanwhile": {interrupted: true, detach: true},
		"detached, and may not be started":    {refused: true, detach: true},
		"detached":                            {detach: true, jobs: 1},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			c := fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{
				Create: func(ctx context.Context, c client.WithWatch, object client.Object, opts ...client.CreateOption) error {
					if err := c.Create(context.WithoutCancel(ctx), object, opts...); err != nil {
						return err
					}
					if test.interrupted {
						interrupt()
					}
					return ctx.Err() // the answer is lost, the object is there
				},
				Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, opts ...client.PatchOption) error {
					if err := ctx.Err(); err != nil {
						return err
					}
					if test.refused {
						return errors.New("refused")
					}
					return c.Patch(ctx, object, patch, opts...)
				},
			}).Build()
			var out bytes.Buffer
			s := &cli{IOStreams: genericiooptions.IOStreams{Out: &out, ErrOut: &out}, color: colorNever}
			job := commandJob{name: "web-run-1", namespace: "shop"}.of(liveTemplate())
			err := s.start(ctx, c, job, policy.DeepCopy(), runFlags{detach: test.detach})
			assert.Equal(t, test.jobs == 0, err != nil, "%v", err)
			list := &batchv1.JobList{}
			require.NoError(t, c.List(t.Context(), list))
			assert.Len(t, list.Items, test.jobs)
		})
	}
}
