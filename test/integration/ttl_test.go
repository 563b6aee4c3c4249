//go:build cluster

package integration

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/harness"
)

// A short life: a warning, once, although the manager is restarted in between, and then nothing is left, paused or not. An AppService whose life is
// extended stays, and so does one without an end.
func TestAnAppServiceDeletesItselfAfterAWarning(t *testing.T) {
	t.Parallel()
	namespace, first := cluster.ManagedNamespace(t)
	makes := func(name string, change func(*v1.AppService)) *v1.AppService {
		t.Helper()
		app := harness.Seed(namespace, name)
		app.Spec.Size, app.Spec.TTL = ptr.To[int32](1), "2m"
		change(app)
		cluster.Create(t, app)
		return app
	}
	goes := makes("goes", func(app *v1.AppService) {
		app.Spec.Persistence = &v1.Persistence{Size: resource.MustParse("1Gi"), MountPath: "/data", StorageClassName: ptr.To("none"), Retain: ptr.To(false)}
	})
	paused := makes("paused", func(*v1.AppService) {})
	prolonged := makes("prolonged", func(*v1.AppService) {})
	lasts := makes("lasts", func(app *v1.AppService) { app.Spec.TTL = "" })
	for _, app := range []*v1.AppService{goes, paused, prolonged, lasts} {
		cluster.Ready(t, app)
	}
	if got := goes.Status.ExpirationTime; got == nil || !got.Time.Equal(goes.CreationTimestamp.Add(2*time.Minute)) {
		t.Errorf("it was created at %s with a life of two minutes, and the status says that it ends at %v", goes.CreationTimestamp, got)
	}
	if lasts.Status.ExpirationTime != nil {
		t.Errorf("one without an end has the end %s", lasts.Status.ExpirationTime)
	}
	cluster.Change(t, paused, func(app *v1.AppService) { app.Spec.Paused = true })
	cluster.Change(t, prolonged, func(app *v1.AppService) { app.Spec.TTL = "1h" })

	for _, app := range []*v1.AppService{goes, paused} {
		harness.Eventually(t, "the warning of "+app.Name, func() error {
			if expiryEvents(t, app) == "" {
				return errors.New("there is no event")
			}
			return nil
		})
	}
	first.Stop(t)
	second := cluster.Manager(t, namespace)

	for _, app := range []*v1.AppService{goes, paused} {
		harness.Eventually(t, app.Name+" is gone, and all of it", func() error {
			for _, object := range []client.Object{&v1.AppService{}, &appsv1.Deployment{}, &corev1.Service{}, &corev1.PersistentVolumeClaim{}} {
				err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(app), object)
				if err == nil {
					return fmt.Errorf("%T is there", object)
				}
				if !apierrors.IsNotFound(err) {
					return err
				}
			}
			return nil
		})
	}
	harness.Eventually(t, "the events", func() error {
		for app, want := range map[*v1.AppService]string{goes: "Expiring Expired", paused: "Expiring Expired", prolonged: "", lasts: ""} {
			if got := expiryEvents(t, app); got != want {
				return fmt.Errorf("%s has the events %q, want %q", app.Name, got, want)
			}
		}
		return nil
	})
	second.Rest(t)
	for _, app := range []*v1.AppService{prolonged, lasts} {
		cluster.Ready(t, app)
		if ends := app.Status.ExpirationTime; (ends != nil) != (app == prolonged) || len(app.Status.Problems) > 0 {
			t.Errorf("%s ends at %v, with the problems %+v", app.Name, ends, app.Status.Problems)
		}
	}
	// It is older than two minutes: a life of one would be over, and each deletion is announced first.
	cluster.Change(t, lasts, func(app *v1.AppService) { app.Spec.TTL = "1m" })
	harness.Eventually(t, "it is gone", func() error {
		if err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(lasts), &v1.AppService{}); !apierrors.IsNotFound(err) {
			return fmt.Errorf("it is there: %w", err)
		}
		if got := expiryEvents(t, lasts); got != "Expiring Expired" {
			return fmt.Errorf("it has the events %q", got)
		}
		return nil
	})
}

// expiryEvents are the reasons of the events about the expiry of an AppService, in order, each as often as it was recorded.
func expiryEvents(t *testing.T, app *v1.AppService) string {
	t.Helper()
	var list eventsv1.EventList
	cluster.List(t, &list, client.InNamespace(app.Namespace))
	told := map[string]int{}
	for _, event := range list.Items {
		if event.Regarding.UID == app.UID && strings.HasPrefix(event.Reason, "Expir") {
			times := 1
			if event.Series != nil {
				times = int(event.Series.Count)
			}
			told[event.Reason] += max(times, int(event.DeprecatedCount))
		}
	}
	var out []string
	for _, reason := range []string{v1.ReasonExpiring, v1.ReasonExpirationFailed, v1.ReasonExpired} {
		for range told[reason] {
			out = append(out, reason)
		}
	}
	return strings.Join(out, " ")
}
