package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/try"
	"github.com/example/appservice-operator/tools/poll"
)

const (
	// apps is the namespace of the applications.
	apps = "appservice-e2e"
	// restricted is a namespace that enforces Pod Security restricted.
	restricted = "appservice-e2e-restricted"
	// seedPort is the node port in config/samples/appservice_nodeport.yaml.
	seedPort = 30002
)

// web is an AppService of the web server. Without a port it has no Service.
func web(namespace, name string, nodePort int32) *v1.AppService {
	app := &v1.AppService{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       v1.AppServiceSpec{Size: ptr.To[int32](2), Image: oldTag, ProgressDeadlineSeconds: ptr.To[int32](15)},
	}
	if nodePort != 0 {
		app.Spec.Ports = []v1.Port{{Port: 80, TargetPort: ptr.To(intstr.FromInt32(8080)), NodePort: ptr.To(nodePort)}}
		app.Spec.Probes = &v1.Probes{Readiness: &v1.ReadinessProbe{Probe: v1.Probe{
			HTTPGet: &v1.HTTPGetProbe{Path: "/healthz"}, PeriodSeconds: ptr.To[int32](1),
		}}}
	}
	return app
}

// named is an AppService with only a name.
func named(name string) *v1.AppService {
	return &v1.AppService{ObjectMeta: metav1.ObjectMeta{Namespace: apps, Name: name}}
}

// makeNamespace creates a namespace with labels.
func (s *suite) makeNamespace(ctx context.Context, name string, labels map[string]string) {
	try.Do(s.client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}))
}

// change reads an object, changes it and writes it, and repeats this while there is a conflict.
func (s *suite) change(ctx context.Context, object client.Object, change func()) {
	try.Do(poll.Until(ctx, func(ctx context.Context) error {
		if err := s.client.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
			return err
		}
		change()
		return s.client.Update(ctx, object)
	}))
}

// wanted is what a condition shall be. An empty field is not looked at.
type wanted struct {
	kind    string
	status  metav1.ConditionStatus
	reasons []string // one of these is part of the reason
	message string   // part of it
}

// until waits until the conditions of the present generation of an AppService are as wanted.
func (s *suite) until(ctx context.Context, app *v1.AppService, all ...wanted) {
	try.Do(poll.Until(ctx, func(ctx context.Context) error {
		if err := s.client.Get(ctx, client.ObjectKeyFromObject(app), app); err != nil {
			return err
		}
		for _, w := range all {
			if err := w.match(app); err != nil {
				return err
			}
		}
		return nil
	}))
}

func (s *suite) untilReady(ctx context.Context, app *v1.AppService) {
	s.until(ctx, app, wanted{kind: v1.ConditionReady, status: metav1.ConditionTrue})
}

// createReady creates an application and waits until it is ready.
func (s *suite) createReady(ctx context.Context, app *v1.AppService) {
	try.Do(s.client.Create(ctx, app))
	s.untilReady(ctx, app)
}

func (w wanted) match(app *v1.AppService) error {
	c := meta.FindStatusCondition(app.Status.Conditions, w.kind)
	if c == nil || c.ObservedGeneration != app.Generation {
		return fmt.Errorf("%s of %s does not tell of generation %d yet", w.kind, app.Name, app.Generation)
	}
	if c.Status != w.status || !containsAny(c.Reason, w.reasons) || !strings.Contains(c.Message, w.message) {
		return fmt.Errorf("%s of %s is %s, %s, %q: want %s, reason %s, message %q",
			w.kind, app.Name, c.Status, c.Reason, c.Message, w.status, strings.Join(w.reasons, " or "), w.message)
	}
	return nil
}

func containsAny(text string, parts []string) bool {
	for _, part := range parts {
		if strings.Contains(text, part) {
			return true
		}
	}
	return len(parts) == 0
}

// podsOf returns all pods of an application, those that end included.
func (s *suite) podsOf(ctx context.Context, app client.Object) ([]corev1.Pod, error) {
	var list corev1.PodList
	err := s.client.List(ctx, &list, client.InNamespace(app.GetNamespace()), client.MatchingLabels{"app.kubernetes.io/name": "appservice", "app.kubernetes.io/instance": app.GetName()})
	return list.Items, err
}

// pods returns those that are not about to end.
func (s *suite) pods(ctx context.Context, app client.Object) ([]corev1.Pod, error) {
	all, err := s.podsOf(ctx, app)
	return slices.DeleteFunc(all, func(p corev1.Pod) bool { return p.DeletionTimestamp != nil }), err
}

// request asks a node port for a page.
func (s *suite) request(ctx context.Context, nodePort int) error {
	_, err := get(ctx, s.url(nodePort))
	return err
}

func (s *suite) url(nodePort int) string {
	return "http://" + net.JoinHostPort(s.cluster.address, strconv.Itoa(nodePort))
}

// get asks for a page and reads it, over a connection of its own, as a new user does.
func get(ctx context.Context, url string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	transport := &http.Transport{DisableKeepAlives: true}
	response, err := (&http.Client{Transport: transport, Timeout: 5 * time.Second}).Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s answers %s", url, response.Status)
	}
	return string(text), err
}

// serves waits until a node port answers with 200. Rules for a new Service take the node a moment.
func (s *suite) serves(ctx context.Context, nodePort int) {
	try.Do(poll.Until(ctx, func(ctx context.Context) error { return s.request(ctx, nodePort) }))
}
