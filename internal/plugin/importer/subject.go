package importer

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/text"
	"github.com/example/appservice-operator/internal/plugin/importer/proof"
)

// mainContainer is the name of an AppService's main container.
const mainContainer = "app"

// subject is one workload with the objects that its AppService is made of, at most one of each role. The pods are
// adapted already: parts with another name or place in an AppService were renamed or moved, with a note.
type subject struct {
	world    *world
	name     string
	workload *unstructured.Unstructured
	// One of the three is set: a ReplicaSet, for example, is read as a Deployment, and a Job as a CronJob.
	deployment *appsv1.Deployment
	stateful   *appsv1.StatefulSet
	cron       *batchv1.CronJob
	template   *corev1.PodTemplateSpec
	selector   *metav1.LabelSelector

	service  *pair[corev1.Service]
	further  []pair[corev1.Service]
	headless *pair[corev1.Service]
	ingress  *pair[networkingv1.Ingress]
	scaler   *pair[autoscalingv2.HorizontalPodAutoscaler]
	budget   *pair[policyv1.PodDisruptionBudget]
	policy   *pair[networkingv1.NetworkPolicy]
	account  *pair[corev1.ServiceAccount]
	claim    *pair[corev1.PersistentVolumeClaim]
	config   *pair[corev1.ConfigMap]
	files    *pair[corev1.ConfigMap]
	task     *pair[batchv1.Job]
	monitor  *unstructured.Unstructured
	route    *unstructured.Unstructured

	given []*unstructured.Unstructured
	// beside are objects that stay. Their notes are added once it is known which pods they find.
	beside  []besides
	notes   []Note
	refused []refusal
	// losses explain what the translation leaves out.
	losses []Note
	// labels are the differences of labels of objects.
	labels []proof.Difference
	// kept are the names of objects that were refused as a whole.
	kept map[string]bool

	app      *unstructured.Unstructured
	rendered []*unstructured.Unstructured
}

// sourceOf returns the objects that belong to a workload, which becomes a resource of a name.
func (w *world) sourceOf(of *unstructured.Unstructured, name string) (*subject, error) {
	s := &subject{world: w.in(of.GetNamespace()), name: name, workload: of, kept: map[string]bool{}}
	if err := s.read(); err != nil {
		return nil, err
	}
	if len(s.template.Spec.Containers) == 0 {
		return nil, fmt.Errorf("%s has no container", describe(of))
	}
	if s.template.Spec.ServiceAccountName == "" {
		s.template.Spec.ServiceAccountName = s.template.Spec.DeprecatedServiceAccount
	}
	s.take(s.workload)
	if s.cron == nil {
		s.takeNeighbors()
		s.takeTask()
	}
	s.takeConfig()
	s.adaptPods()
	return s, s.jobToo()
}

// read reads the workload as one of three kinds.
func (s *subject) read() (err error) {
	of := s.workload
	switch of.GetKind() {
	case "StatefulSet":
		s.stateful, err = as[appsv1.StatefulSet](of)
		s.template, s.selector = &s.stateful.Spec.Template, orLabels(s.stateful.Spec.Selector, s.stateful.Spec.Template)
		return err
	case "CronJob":
		s.cron, err = as[batchv1.CronJob](of)
	case "Job":
		var job *batchv1.Job
		job, err = as[batchv1.Job](of)
		s.cron = &batchv1.CronJob{Spec: batchv1.CronJobSpec{JobTemplate: batchv1.JobTemplateSpec{Spec: job.Spec}}}
	case "Pod":
		s.ofPod()
		_, err = as[corev1.Pod](of)
	case "ReplicationController":
		var old *corev1.ReplicationController
		old, err = as[corev1.ReplicationController](of)
		s.deployment = &appsv1.Deployment{}
		s.deployment.Spec.Replicas, s.deployment.Spec.MinReadySeconds = old.Spec.Replicas, old.Spec.MinReadySeconds
		if len(old.Spec.Selector) > 0 {
			s.deployment.Spec.Selector = &metav1.LabelSelector{MatchLabels: old.Spec.Selector}
		}
		if old.Spec.Template != nil {
			s.deployment.Spec.Template = *old.Spec.Template
		}
	default:
		s.deployment, err = as[appsv1.Deployment](of)
	}
	if s.cron != nil {
		s.template = &s.cron.Spec.JobTemplate.Spec.Template
		s.selector = orLabels(nil, *s.template)
	} else {
		s.template, s.selector = &s.deployment.Spec.Template, orLabels(s.deployment.Spec.Selector, s.deployment.Spec.Template)
	}
	return err
}

// ofPod reads a Pod as a Deployment, or as a Job if it ends.
func (s *subject) ofPod() {
	template := *podTemplate(s.workload)
	policy := template.Spec.RestartPolicy
	if policy == corev1.RestartPolicyNever || policy == corev1.RestartPolicyOnFailure {
		s.cron = &batchv1.CronJob{}
		s.cron.Spec.JobTemplate.Spec.Template = template
		s.cron.Spec.JobTemplate.Spec.BackoffLimit = new(int32)
		return
	}
	s.deployment = &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Template: template}}
}

// named returns an error for a name that a resource cannot have.
func (s *subject) named() error {
	most := longestName[s.kind()]
	switch {
	case s.name == "":
		return errors.New("metadata.name is missing: choose one by --name")
	case len(s.name) > most:
		return fmt.Errorf("metadata.name: %s has %d characters, and that of an %s has at most %d: choose another by --name",
			s.name, len(s.name), s.kind(), most)
	case !dnsLabel.MatchString(s.name):
		return fmt.Errorf("metadata.name: %s is not a name of an %s, which begins with a small letter, and has small letters, "+
			"digits and - only: choose another by --name", s.name, s.kind())
	}
	return nil
}

var (
	longestName = map[string]int{v1.Kind: 53, JobKind: 52}
	dnsLabel    = regexp.MustCompile(`^[a-z]([a-z0-9-]*[a-z0-9])?$`)
)

// JobKind is the kind of resource that Jobs become.
const JobKind = "AppJob"

// kind is that of the resource.
func (s *subject) kind() string {
	if s.cron != nil {
		return JobKind
	}
	return v1.Kind
}

func (s *subject) namespace() string { return s.workload.GetNamespace() }

// release gives back objects that were refused as a whole, and reports whether there were any: they stay beside the
// resource, and the workload refers to them as before.
func (s *subject) release() bool {
	before := len(s.kept)
	giveBack(s, &s.config)
	giveBack(s, &s.files)
	giveBack(s, &s.claim)
	giveBack(s, &s.account)
	return len(s.kept) > before
}

// giveBack empties a role whose object was refused.
func giveBack[T any](s *subject, role **pair[T]) {
	for _, refusal := range s.refused {
		if *role != nil && refusal.from.object == describe((*role).object) {
			object := (*role).object
			s.kept[describe(object)] = true
			s.given = slices.DeleteFunc(s.given, func(o *unstructured.Unstructured) bool { return o == object })
			s.aside(object, "it is not taken: "+text.Line(refusal.err.Error()), "keep it beside the "+s.kind()+", which refers to it")
			*role = nil
		}
	}
}

func (s *subject) take(object *unstructured.Unstructured) {
	s.given = append(s.given, object)
	s.world.taken[object] = true
}

// aside adds a note on an object that cannot be part of the AppService, because another one has its role or no field
// expresses it.
func (s *subject) aside(object *unstructured.Unstructured, reason, remedy string) {
	s.world.taken[object] = true
	s.note(describe(object), "", reason, remedy)
}

func (s *subject) note(object, field, reason, remedy string) {
	s.notes = append(s.notes, Note{Object: object, Field: field, Reason: reason, Remedy: remedy})
}

// besides is an object that stays beside the resource.
type besides struct {
	object *unstructured.Unstructured
	reason string
}

// stays is for an object that selects pods, or Services: whether it still finds them is known when all is rendered.
func (s *subject) stays(object *unstructured.Unstructured, reason string) {
	s.world.taken[object] = true
	s.beside = append(s.beside, besides{object, reason})
}

// rank orders notes by their objects.
func (s *subject) rank(object string) int {
	if at := slices.IndexFunc(s.given, func(o *unstructured.Unstructured) bool { return describe(o) == object }); at >= 0 {
		return at
	}
	return len(s.given)
}

// takeServices chooses the Service of the workload's name, else the first that is not headless, best one for these pods
// alone, else that of the workload's name from which replicas have theirs, else any with ports. All others become
// further ones, as far as they can.
func (s *subject) takeServices(services []pair[corev1.Service]) {
	headlessName := s.name + "-headless"
	if s.stateful != nil {
		headlessName = s.stateful.Spec.ServiceName
	}
	best := -1
	rate := func(p pair[corev1.Service]) int {
		named, headless := p.read.Name == s.name, p.read.Spec.ClusterIP == corev1.ClusterIPNone
		governs := s.stateful != nil && headless && p.read.Name == headlessName && len(services) > 1
		switch {
		case len(p.read.Spec.Ports) == 0, governs && !named:
			return 0
		case p.read.Labels[v1.LabelMainService] != "":
			return 7
		case named && !headless:
			return 6
		case !headless && s.world.alone(p.read, s.workload):
			return 5
		case governs:
			return 4
		case !headless:
			return 3
		case named:
			return 2
		}
		return 1
	}
	for n, p := range services {
		if rate(p) > 0 && (best < 0 || rate(p) > rate(services[best])) {
			best = n
		}
	}
	var others []pair[corev1.Service]
	for n, p := range services {
		switch {
		case n == best && (s.stateful == nil || p.read.Name != headlessName || p.read.Name != s.name+"-headless"):
			s.service = &p
			s.take(p.object)
		case s.stateful != nil && p.read.Name == headlessName && headlessName == s.name+"-headless":
			s.headless = &p
			s.take(p.object)
		default:
			others = append(others, p)
		}
	}
	for _, p := range others {
		if !s.takeFurther(p) {
			s.stays(p.object, "spec.services has Services of these pods alone, whose ports lead to ports of them, 8 at most")
		}
	}
}

// first chooses the object of the workload's name, else the first, for a role, and puts the others aside.
func first[T any](s *subject, list []pair[T], reason string) *pair[T] {
	if len(list) == 0 {
		return nil
	}
	at := max(0, slices.IndexFunc(list, func(p pair[T]) bool { return p.object.GetName() == s.name }))
	for n, p := range list {
		if n != at {
			s.stays(p.object, reason)
		}
	}
	s.take(list[at].object)
	return &list[at]
}

// takeNeighbors chooses among the objects that are related to the workload by references or selectors.
func (s *subject) takeNeighbors() {
	w, pods := s.world, s.template.Labels
	services := only(w, "", "Service", func(s *corev1.Service) bool {
		return len(s.Spec.Selector) > 0 && labels.SelectorFromSet(s.Spec.Selector).Matches(labels.Set(pods))
	})
	isService := func(name string) bool {
		return slices.ContainsFunc(services, func(s pair[corev1.Service]) bool { return s.read.Name == name })
	}
	s.takeServices(services)
	s.ingress = first(s, only(w, networkingv1.GroupName, "Ingress", func(i *networkingv1.Ingress) bool {
		return slices.ContainsFunc(backends(i), isService)
	}), "an AppService has one Ingress, which is made of another one")
	type scaler = autoscalingv2.HorizontalPodAutoscaler
	s.scaler = first(s, only(w, autoscalingv2.GroupName, "HorizontalPodAutoscaler", func(a *scaler) bool {
		return a.Spec.ScaleTargetRef.Kind == s.workload.GetKind() && a.Spec.ScaleTargetRef.Name == s.workload.GetName()
	}), "an AppService has one autoscaler, which is made of another one")
	s.budget = first(s, only(w, policyv1.GroupName, "PodDisruptionBudget",
		func(b *policyv1.PodDisruptionBudget) bool {
			return matches(b.Spec.Selector, pods)
		}), "an AppService has one PodDisruptionBudget, which is made of another one")
	s.takePolicy(only(w, networkingv1.GroupName, "NetworkPolicy", func(p *networkingv1.NetworkPolicy) bool {
		return matches(&p.Spec.PodSelector, pods)
	}))
	s.takeAccount(only(w, "", "ServiceAccount", func(a *corev1.ServiceAccount) bool {
		return a.Name == s.template.Spec.ServiceAccountName
	}))
	s.takeClaim(only(w, "", "PersistentVolumeClaim", func(c *corev1.PersistentVolumeClaim) bool {
		return slices.ContainsFunc(s.template.Spec.Volumes, func(v corev1.Volume) bool {
			return v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == c.Name
		})
	}))
	s.takeMonitor(w.monitorsOf(services))
	s.takeRoute(w.routesTo(isService))
}

// takeAccount chooses the service account of the workload: that of its name, or of its release.
func (s *subject) takeAccount(list []pair[corev1.ServiceAccount]) {
	for _, p := range list {
		if s.world.taken[p.object] {
			continue // another AppService makes it
		}
		if p.read.Name == s.name || sameRelease(p.object, s.workload) {
			s.account = &p
			s.take(p.object)
		}
	}
}

// sameRelease reports whether two objects belong to the same Helm release, by annotations or labels.
func sameRelease(a, b *unstructured.Unstructured) bool {
	const annotation, label = "meta.helm.sh/release-name", "app.kubernetes.io/instance"
	x, y := a.GetAnnotations()[annotation], b.GetAnnotations()[annotation]
	if x != "" || y != "" {
		return x == y
	}
	x, y = a.GetLabels()[label], b.GetLabels()[label]
	return x != "" && x == y
}

// takeConfig chooses the ConfigMaps with the names of those that spec.config renders.
func (s *subject) takeConfig() {
	choose := func(suffix string, used bool, into **pair[corev1.ConfigMap]) {
		for _, p := range only(s.world, "", "ConfigMap", func(c *corev1.ConfigMap) bool {
			return used && c.Name == s.name+suffix && len(c.BinaryData) == 0 && len(c.Data) > 0
		}) {
			if !s.world.taken[p.object] {
				*into = &p
				s.take(p.object)
			}
		}
	}
	choose("-config", s.configFrom() == 0, &s.config)
	choose("-files", s.filesMount() != nil, &s.files)
}

// container returns the main container.
func (s *subject) container() *corev1.Container {
	return &s.template.Spec.Containers[s.mainIndex()]
}

// mainIndex returns the index of the main container: the default of kubectl, else the one that the Service targets,
// else the one of the workload's name, else the first.
func (s *subject) mainIndex() int {
	list := s.template.Spec.Containers
	byName := func(name string) int {
		return slices.IndexFunc(list, func(c corev1.Container) bool { return name != "" && c.Name == name })
	}
	for _, name := range []string{mainContainer, s.template.Annotations[containerAnnotation], s.name} {
		if at := byName(name); at >= 0 {
			return at
		}
	}
	if s.service != nil {
		for _, port := range s.service.read.Spec.Ports {
			for at := range list {
				if _, found := portOf(&list[at], port); found {
					return at
				}
			}
		}
	}
	return 0
}

// configFrom returns the index in envFrom of the main container of the ConfigMap NAME-config; -1 if it is not there, or
// not as an AppService renders it.
func (s *subject) configFrom() int {
	return slices.IndexFunc(s.container().EnvFrom, func(from corev1.EnvFromSource) bool {
		return from.Prefix == "" && from.ConfigMapRef != nil && from.ConfigMapRef.Name == s.name+"-config"
	})
}

const (
	filesVolume = "config-files"
	dataVolume  = "data"
)

// filesMount returns the mount of the ConfigMap NAME-files in the main container; nil if there is none, or not as an
// AppService renders it.
func (s *subject) filesMount() *corev1.VolumeMount {
	for _, volume := range s.template.Spec.Volumes {
		if volume.Name != filesVolume || volume.ConfigMap == nil || volume.ConfigMap.Name != s.name+"-files" ||
			len(volume.ConfigMap.Items) > 0 {
			continue
		}
		mounts := s.mountsOf(filesVolume)
		if len(mounts) == 1 && mounts[0].SubPath == "" && mounts[0].ReadOnly {
			return mounts[0]
		}
	}
	return nil
}

// mountsOf returns the mounts of a volume in the main container; nil if another container mounts it, too.
func (s *subject) mountsOf(volume string) []*corev1.VolumeMount {
	var mounts []*corev1.VolumeMount
	main, alone := s.container(), true
	s.eachContainer(func(c *corev1.Container) {
		for n := range c.VolumeMounts {
			if c.VolumeMounts[n].Name == volume {
				mounts, alone = append(mounts, &c.VolumeMounts[n]), alone && c == main
			}
		}
	})
	if !alone {
		return nil
	}
	return mounts
}

// selecting returns the labels by which an AppService selects its pods.
func (s *subject) selecting() map[string]string {
	return map[string]string{"app.kubernetes.io/name": strings.ToLower(s.kind()), "app.kubernetes.io/instance": s.name}
}

// orLabels returns a selector, by default the labels of the pods, as in manifests of apps/v1beta1.
func orLabels(selector *metav1.LabelSelector, template corev1.PodTemplateSpec) *metav1.LabelSelector {
	return cmp.Or(selector, &metav1.LabelSelector{MatchLabels: template.Labels})
}
