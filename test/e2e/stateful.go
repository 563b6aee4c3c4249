package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/try"
	"github.com/example/appservice-operator/tools/poll"
)

// keptPort is the node port of the application that keeps its data.
const keptPort = 30007

// keepData has each replica of an application write a file to its own volume, restarts all of them, and deletes the pod of one.
func keepData(ctx context.Context, s *suite) {
	app, made := s.makeKept(ctx)
	before := s.answers(ctx, app)
	first := try.Get(s.podsByName(ctx, app))
	s.change(ctx, app, func() { app.Annotations = map[string]string{v1.AnnotationRestartedAt: "now"} })
	s.untilOthers(ctx, app, first)
	second := try.Get(s.podsByName(ctx, app))
	lost := app.Name + "-0"
	try.Do(s.client.Delete(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: apps, Name: lost}}))
	s.untilOthers(ctx, app, map[string]types.UID{lost: second[lost]})
	s.answersAs(ctx, app, before)
	s.endKept(ctx, app, made)
}

// makeKept creates an application whose replicas have a volume each, to which each of them writes. Its claims and volumes
// are returned with it.
func (s *suite) makeKept(ctx context.Context) (*v1.AppService, []client.Object) {
	app := web(apps, "kept", keptPort)
	app.Spec.Envs = []corev1.EnvVar{{Name: "KEEP", Value: "/data/started"}}
	app.Spec.Security = &v1.Security{Container: &v1.ContainerSecurity{RunAsUser: ptr.To[int64](0)}} // the node's folder is root's
	app.Spec.Persistence = &v1.Persistence{PerReplica: true, Size: resource.MustParse("1Mi"), MountPath: "/data", StorageClassName: ptr.To(apps + "-kept")}
	var made []client.Object
	for i := range *app.Spec.Size {
		made = append(made, s.makeClaimable(ctx, fmt.Sprintf("data-%s-%d", app.Name, i), apps+"-kept")...)
	}
	s.createReady(ctx, app)
	return app, made
}

// makeClaimable creates a volume, empty and of a class, for a claim that a workload will make. Both are returned.
func (s *suite) makeClaimable(ctx context.Context, claim, class string) []client.Object {
	name := apps + "-" + claim
	volume := s.makeVolume(ctx, name, class, name+"-"+strconv.FormatInt(time.Now().UnixNano(), 36))
	return []client.Object{&corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: apps, Name: claim}}, volume}
}

// endKept deletes an application and, once its pods are gone, its claims and volumes, which have to be there still.
func (s *suite) endKept(ctx context.Context, app *v1.AppService, made []client.Object) {
	try.Do(s.client.Delete(ctx, app))
	try.Do(poll.Until(ctx, func(ctx context.Context) error {
		left, err := s.podsByName(ctx, app)
		if err == nil && len(left) > 0 {
			err = fmt.Errorf("there are pods: %v", left)
		}
		return err
	}))
	for _, object := range made {
		try.Do(s.client.Delete(ctx, object))
	}
}

// answersAs fails unless each replica answers as before, with data of its own.
func (s *suite) answersAs(ctx context.Context, app *v1.AppService, before map[string]string) {
	after := s.answers(ctx, app)
	if !maps.Equal(before, after) {
		try.Fail("replicas answered %v, and now %v", before, after)
	}
	for host, text := range after {
		if !strings.HasPrefix(text, host+"@") {
			try.Fail("%s has the data of %s", host, text)
		}
	}
}

// podsByName returns the UIDs of all pods of an application.
func (s *suite) podsByName(ctx context.Context, app client.Object) (map[string]types.UID, error) {
	pods, err := s.podsOf(ctx, app)
	found := map[string]types.UID{}
	for _, p := range pods {
		found[p.Name] = p.UID
	}
	return found, err
}

// untilOthers waits until pods are others than they were, and the application is ready.
func (s *suite) untilOthers(ctx context.Context, app *v1.AppService, were map[string]types.UID) {
	try.Do(poll.Until(ctx, func(ctx context.Context) error {
		now, err := s.podsByName(ctx, app)
		if err != nil {
			return err
		}
		for name, uid := range were {
			if now[name] == "" || now[name] == uid {
				return fmt.Errorf("pod %s was not made again", name)
			}
		}
		return nil
	}))
	s.untilReady(ctx, app)
}

// answers asks until each replica of an application has answered, and returns what they said, by host.
func (s *suite) answers(ctx context.Context, app *v1.AppService) map[string]string {
	said := map[string]string{}
	try.Do(poll.Until(ctx, func(ctx context.Context) error {
		text, err := get(ctx, s.url(keptPort))
		if err != nil {
			return err
		}
		host, kept, found := strings.Cut(strings.TrimSpace(text), " ")
		if !found {
			return errors.New("the answer is " + text)
		}
		said[host] = kept
		if len(said) < int(*app.Spec.Size) {
			return fmt.Errorf("only %v answered", said)
		}
		return nil
	}))
	return said
}
