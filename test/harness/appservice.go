package harness

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/files"
)

// Seed is the resource that must always work.
func Seed(namespace, name string) *v1.AppService {
	return &v1.AppService{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: v1.AppServiceSpec{
			Size:  ptr.To[int32](2),
			Image: "nginx:1.7.9",
			Ports: []v1.Port{{Port: 80, TargetPort: ptr.To(intstr.FromInt32(80))}},
		},
	}
}

// CreateReady makes an AppService and waits until it is ready.
func (c *Cluster) CreateReady(t *testing.T, app *v1.AppService) {
	t.Helper()
	c.Create(t, app)
	c.Ready(t, app)
}

// Change edits an AppService.
func (c *Cluster) Change(t *testing.T, app *v1.AppService, change func(*v1.AppService)) {
	t.Helper()
	c.Edit(t, app, func() { change(app) })
}

// Condition waits until a condition of an AppService has a status for its present generation, and a reason unless that
// is empty.
func (c *Cluster) Condition(t *testing.T, app *v1.AppService, kind string, status metav1.ConditionStatus, reason string) metav1.Condition {
	t.Helper()
	var found metav1.Condition
	Eventually(t, fmt.Sprintf("%s of %s becomes %s %s", kind, app.Name, status, reason), func() error {
		condition, err := c.ConditionNow(t.Context(), app, kind)
		if err != nil {
			return err
		}
		if condition.Status != status || reason != "" && condition.Reason != reason {
			return fmt.Errorf("it is %s %s: %s", condition.Status, condition.Reason, condition.Message)
		}
		found = *condition
		return nil
	})
	return found
}

// ConditionNow reads an AppService and returns a condition of it; an error if that is not about its present generation.
func (c *Cluster) ConditionNow(ctx context.Context, app *v1.AppService, kind string) (*metav1.Condition, error) {
	if err := c.Client.Get(ctx, client.ObjectKeyFromObject(app), app); err != nil {
		return nil, err
	}
	condition := meta.FindStatusCondition(app.Status.Conditions, kind)
	if condition == nil {
		return nil, fmt.Errorf("there is no such condition yet")
	}
	if condition.ObservedGeneration != app.Generation {
		return nil, fmt.Errorf("it speaks of generation %d, not %d", condition.ObservedGeneration, app.Generation)
	}
	return condition, nil
}

// Ready waits until an AppService is ready in its present generation.
func (c *Cluster) Ready(t *testing.T, app *v1.AppService) {
	t.Helper()
	c.Condition(t, app, v1.ConditionReady, metav1.ConditionTrue, "")
}

// Sample reads an AppService from config/samples and puts it into a namespace.
func Sample(t *testing.T, file, namespace string) *v1.AppService {
	t.Helper()
	app := &v1.AppService{}
	files.Into(t, filepath.Join("config/samples", file), app)
	app.Namespace = namespace
	return app
}

// Noise makes texts that do not compress, the same in each run.
func Noise(items, length int) []string {
	source := rand.New(rand.NewPCG(1, 2))
	list := make([]string, items)
	for i := range list {
		text := make([]byte, length)
		for j := range text {
			text[j] = byte('!' + source.IntN('~'-'!'))
		}
		list[i] = string(text)
	}
	return list
}
