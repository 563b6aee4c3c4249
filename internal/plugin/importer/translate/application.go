package translate

import (
	"cmp"
	"slices"
	"strings"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/example/appservice-operator/internal/plugin/importer/read"
)

// Application is one workload with the objects that its AppService is made of. The pods are adapted already: parts with
// another name or place in an AppService were renamed or moved, with a note.
type Application struct {
	*read.Workload
	parts
	// Objects are all of its namespace.
	Objects *read.Objects
	// Name is that of the resource that it becomes.
	Name string

	// Given are the objects that it is made of.
	Given []*unstructured.Unstructured
	// Beside are objects that stay. Their notes are added once it is known which pods they find.
	Beside []Remaining
	Notes  read.Notes
	// Refused are the pieces that the operator does not accept.
	Refused []Refusal
	// Losses explain what the translation leaves out.
	Losses []read.Note
	// kept are the names of objects that were refused as a whole.
	kept map[string]bool

	// App is the resource, and Rendered are its objects.
	App      *unstructured.Unstructured
	Rendered []*unstructured.Unstructured
}

// parts are the objects beside a workload that its AppService is made of, at most one of each role.
type parts struct {
	service  *read.Pair[corev1.Service]
	further  []read.Pair[corev1.Service]
	Headless *read.Pair[corev1.Service]
	ingress  *read.Pair[networkingv1.Ingress]
	scaler   *read.Pair[autoscalingv2.HorizontalPodAutoscaler]
	budget   *read.Pair[policyv1.PodDisruptionBudget]
	policy   *read.Pair[networkingv1.NetworkPolicy]
	account  *read.Pair[corev1.ServiceAccount]
	claim    *read.Pair[corev1.PersistentVolumeClaim]
	config   *read.Pair[corev1.ConfigMap]
	files    *read.Pair[corev1.ConfigMap]
	task     *read.Pair[batchv1.Job]
	monitor  *unstructured.Unstructured
	route    *unstructured.Unstructured
}

// Remaining is an object that stays beside the resource.
type Remaining struct {
	Object *unstructured.Unstructured
	Reason string
}

// mainContainer is the name of an AppService's main container.
const mainContainer = "app"

const (
	filesVolume = "config-files"
	dataVolume  = "data"
)

const (
	// containerAnnotation names the default container of kubectl.
	containerAnnotation = "kubectl.kubernetes.io/default-container"
	// checksumPrefix is the prefix of annotations with which charts roll pods when a ConfigMap or Secret changes.
	checksumPrefix = "checksum/"
	// VersionLabel is the label with the version of the application that a chart is for.
	VersionLabel = "app.kubernetes.io/version"
)

func (a *Application) take(object *unstructured.Unstructured) {
	a.Given = append(a.Given, object)
	a.Objects.Taken[object] = true
}

// aside adds a note on an object that cannot be part of the AppService, because another one has its role or no field
// expresses it.
func (a *Application) aside(object *unstructured.Unstructured, reason, remedy string) {
	a.Objects.Taken[object] = true
	a.Notes.Add(read.Describe(object), "", reason, remedy)
}

// stays is for an object that selects pods, or Services: whether it still finds them is known when all is rendered.
func (a *Application) stays(object *unstructured.Unstructured, reason string) {
	a.Objects.Taken[object] = true
	a.Beside = append(a.Beside, Remaining{object, reason})
}

// lose explains a field that the translation leaves out.
func (a *Application) lose(field, reason, remedy string) {
	a.Losses = append(a.Losses, read.Note{Object: read.Describe(a.Object), Field: field, Reason: reason, Remedy: remedy})
}

// container returns the main container.
func (a *Application) container() *corev1.Container {
	return &a.Template.Spec.Containers[a.mainIndex()]
}

// mainIndex returns the index of the main container: the default of kubectl, else the one that the Service targets,
// else the one of the workload's name, else the first.
func (a *Application) mainIndex() int {
	list := a.Template.Spec.Containers
	byName := func(name string) int {
		return slices.IndexFunc(list, func(c corev1.Container) bool { return name != "" && c.Name == name })
	}
	for _, name := range []string{mainContainer, a.Template.Annotations[containerAnnotation], a.Name} {
		if at := byName(name); at >= 0 {
			return at
		}
	}
	if a.service != nil {
		for _, port := range a.service.Read.Spec.Ports {
			for at := range list {
				if _, found := portOf(&list[at], port); found {
					return at
				}
			}
		}
	}
	return 0
}

// portOf returns the number of the container port that a port of a Service targets.
func portOf(c *corev1.Container, entry corev1.ServicePort) (int32, bool) {
	target := cmp.Or(entry.TargetPort, intstr.FromInt32(entry.Port))
	protocol := cmp.Or(entry.Protocol, corev1.ProtocolTCP)
	for _, port := range c.Ports {
		if cmp.Or(port.Protocol, corev1.ProtocolTCP) == protocol &&
			(target.Type == intstr.String && port.Name == target.StrVal ||
				target.Type == intstr.Int && port.ContainerPort == target.IntVal) {
			return port.ContainerPort, true
		}
	}
	return 0, false
}

// configFrom returns the index in envFrom of the main container of the ConfigMap NAME-config; -1 if it is not there, or
// not as an AppService renders it.
func (a *Application) configFrom() int {
	return slices.IndexFunc(a.container().EnvFrom, func(from corev1.EnvFromSource) bool {
		return from.Prefix == "" && from.ConfigMapRef != nil && from.ConfigMapRef.Name == a.Name+"-config"
	})
}

// filesMount returns the mount of the ConfigMap NAME-files in the main container; nil if there is none, or not as an
// AppService renders it.
func (a *Application) filesMount() *corev1.VolumeMount {
	for _, volume := range a.Template.Spec.Volumes {
		if volume.Name != filesVolume || volume.ConfigMap == nil || volume.ConfigMap.Name != a.Name+"-files" ||
			len(volume.ConfigMap.Items) > 0 {
			continue
		}
		mounts := a.mountsOf(filesVolume)
		if len(mounts) == 1 && mounts[0].SubPath == "" && mounts[0].ReadOnly {
			return mounts[0]
		}
	}
	return nil
}

// mountsOf returns the mounts of a volume in the main container; nil if another container mounts it, too.
func (a *Application) mountsOf(volume string) []*corev1.VolumeMount {
	var mounts []*corev1.VolumeMount
	main, alone := a.container(), true
	a.EachContainer(func(c *corev1.Container) {
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

// Selecting returns the labels by which an AppService selects its pods.
func (a *Application) Selecting() map[string]string {
	return map[string]string{"app.kubernetes.io/name": strings.ToLower(a.Kind()), "app.kubernetes.io/instance": a.Name}
}

// from returns the source for a field of the workload.
func (a *Application) from(field string) Source { return Source{read.Describe(a.Object), field} }

func (a *Application) fromSpec(field string) Source { return a.from("spec." + field) }

func (a *Application) fromPod(field string) Source { return a.from(templatePath(field)) }

func (a *Application) fromMain(field string) Source {
	return a.fromPod("containers[" + mainContainer + "]." + field)
}
