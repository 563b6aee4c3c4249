package main

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/try"
	"github.com/example/appservice-operator/tools/poll"
)

const (
	seed   = "nginx-app" // the name in config/samples/appservice_nodeport.yaml
	rolled = "web"
	// rolledPort is the node port of the application that is rolled, broken and healed.
	rolledPort = 30003
)

// serveSeed creates the resource that must always work.
func serveSeed(ctx context.Context, s *suite) {
	s.makeNamespace(ctx, apps, nil)
	try.Do(s.command(ctx, "kubectl", "apply", "--namespace="+apps, "--filename=config/samples/appservice_nodeport.yaml"))
	s.untilReady(ctx, named(seed))
	s.serves(ctx, seedPort)
}

// runRestricted runs an application where the cluster admits only pods without rights.
func runRestricted(ctx context.Context, s *suite) {
	labels := map[string]string{"pod-security.kubernetes.io/enforce": "restricted"}
	s.makeNamespace(ctx, restricted, labels)
	app := web(restricted, "web", 0)
	s.createReady(ctx, app)
	try.Do(s.client.Delete(ctx, app))
}

// rollUnderLoad replaces all pods of an application while requests come in.
func rollUnderLoad(ctx context.Context, s *suite) {
	app := web(apps, rolled, rolledPort)
	s.createReady(ctx, app)
	s.serves(ctx, rolledPort)
	s.underLoad(ctx, rolledPort, func() { s.roll(ctx, app, newTag, func() {}) })
}

// roll changes an application, its image included, and waits until all of its pods have the image.
func (s *suite) roll(ctx context.Context, app *v1.AppService, image string, change func()) {
	s.change(ctx, app, func() {
		app.Spec.Image = image
		change()
	})
	s.untilReady(ctx, app)
	s.untilOnly(ctx, app, image)
}

// untilOnly waits until every pod of an application, those that end included, has the image.
func (s *suite) untilOnly(ctx context.Context, app *v1.AppService, image string) {
	try.Do(poll.Until(ctx, func(ctx context.Context) error {
		pods, err := s.podsOf(ctx, app)
		if err != nil {
			return err
		}
		for _, p := range pods {
			if got := p.Spec.Containers[0].Image; got != image {
				return fmt.Errorf("pod %s has image %s, want %s", p.Name, got, image)
			}
		}
		return nil
	}))
}

// reasons are those of AppServices that cannot become ready. Registries differ in their answers to a tag that does not exist,
// and a node may reach none.
var reasons = map[string][]string{
	"broken tag": {v1.ReasonImageNotFound, v1.ReasonImagePullUnauthorized, v1.ReasonImagePullFailed},
	"memory":     {v1.ReasonOutOfMemory},
	"crash":      {v1.ReasonContainerCrashed},
}

// breakTag sets an image that does not exist, checks the status, and sets the right one again.
func breakTag(ctx context.Context, s *suite) {
	app := named(rolled)
	s.change(ctx, app, func() { app.Spec.Image = missingTag })
	s.until(ctx, app,
		wanted{kind: v1.ConditionReady, status: metav1.ConditionFalse, reasons: reasons["broken tag"]},
		wanted{kind: v1.ConditionAvailable, status: metav1.ConditionTrue},
		wanted{kind: v1.ConditionStalled, status: metav1.ConditionTrue})
	if err := s.request(ctx, rolledPort); err != nil {
		try.Fail("the old version does not serve: %w", err)
	}
	s.change(ctx, app, func() { app.Spec.Image = newTag })
	s.untilReady(ctx, app)
}

// exhaustMemory runs an application whose memory is never enough.
func exhaustMemory(ctx context.Context, s *suite) {
	app := web(apps, "hog", 0)
	app.Spec.Envs = []corev1.EnvVar{{Name: "MODE", Value: "hog"}}
	app.Spec.Resources = &corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("32Mi")}}
	s.failing(ctx, app, reasons["memory"], func(ended *corev1.ContainerStateTerminated) bool { return ended.Reason == "OOMKilled" })
}

// crash runs an application that ends as soon as it starts.
func crash(ctx context.Context, s *suite) {
	app := web(apps, "crash", 0)
	app.Spec.Envs = []corev1.EnvVar{{Name: "MODE", Value: "crash"}}
	s.failing(ctx, app, reasons["crash"], func(ended *corev1.ContainerStateTerminated) bool { return ended.ExitCode == 3 })
}

// failing creates an application whose containers end as expected, waits until it says that it is not ready, and why,
// and deletes it.
func (s *suite) failing(ctx context.Context, app *v1.AppService, reasons []string, expected func(*corev1.ContainerStateTerminated) bool) {
	try.Do(s.client.Create(ctx, app))
	try.Do(poll.Until(ctx, func(ctx context.Context) error {
		pods, err := s.pods(ctx, app)
		if err != nil {
			return err
		}
		for _, p := range pods {
			for _, c := range p.Status.ContainerStatuses {
				for _, state := range []corev1.ContainerState{c.State, c.LastTerminationState} {
					if state.Terminated != nil && expected(state.Terminated) {
						return nil
					}
				}
			}
		}
		return errors.New("no container has ended as expected")
	}))
	s.until(ctx, app,
		wanted{kind: v1.ConditionReady, status: metav1.ConditionFalse, reasons: reasons},
		wanted{kind: v1.ConditionStalled, status: metav1.ConditionTrue, reasons: reasons})
	try.Do(s.client.Delete(ctx, app))
}

// deleteApp deletes an AppService with everything that one can have here. Its data stays.
func deleteApp(ctx context.Context, s *suite) {
	before := try.Get(s.list(ctx, apps))
	app, volume := s.makeStateful(ctx)
	try.Do(s.client.Delete(ctx, app))
	before[claimOf(app)] = true
	try.Do(poll.Until(ctx, func(ctx context.Context) error {
		now, err := s.list(ctx, apps)
		if err != nil {
			return err
		}
		return now.nothingBut(before)
	}))
	claim := &corev1.PersistentVolumeClaim{}
	try.Do(s.client.Get(ctx, client.ObjectKeyFromObject(app), claim))
	if claim.Annotations["app.example.com/retained-for"] == "" {
		try.Fail("claim %s does not say whom it is retained for", claim.Name)
	}
	try.Do(errors.Join(s.client.Delete(ctx, claim), s.client.Delete(ctx, volume)))
}

// makeStateful creates an application with everything that one can have here, and waits until it is ready.
func (s *suite) makeStateful(ctx context.Context) (*v1.AppService, *corev1.PersistentVolume) {
	volume := s.makeVolume(ctx, apps, apps, apps)
	app := web(apps, "stateful", 30004)
	app.Spec.Size = ptr.To[int32](1)
	app.Spec.Config = &v1.Config{Environment: map[string]v1.ConfigValue{"GREETING": "hello"}}
	app.Spec.ServiceAccount = &v1.ServiceAccount{Create: ptr.To(true)}
	app.Spec.Persistence = &v1.Persistence{
		Size: resource.MustParse("1Mi"), StorageClassName: ptr.To(volume.Spec.StorageClassName), MountPath: "/data",
	}
	s.createReady(ctx, app)
	return app, volume
}

// claimOf is the claim of an application among the objects of a cluster.
func claimOf(app *v1.AppService) string {
	return "PersistentVolumeClaim " + app.Namespace + " " + app.Name
}

// makeVolume creates a volume on the node, of a class of its own: not every cluster has a provisioner.
func (s *suite) makeVolume(ctx context.Context, name, class, path string) *corev1.PersistentVolume {
	volume := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name}}
	volume.Spec = corev1.PersistentVolumeSpec{
		StorageClassName:              class,
		AccessModes:                   []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Capacity:                      corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Mi")},
		PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimRetain,
		PersistentVolumeSource: corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{
			Path: "/var/lib/" + path, Type: ptr.To(corev1.HostPathDirectoryOrCreate),
		}},
	}
	try.Do(s.client.Create(ctx, volume))
	return volume
}
