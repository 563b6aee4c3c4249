package importer

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	v1 "github.com/example/appservice-operator/api/v1"
)

// pieces returns the pieces of the spec, the image first. Defaults are removed later.
func (s *subject) pieces() []piece {
	if s.cron != nil {
		return s.jobPieces()
	}
	list := s.containerPieces()
	list = slices.Concat(list[:1], s.podPieces(), list[1:]) // volumes before their mounts
	list = append(list, s.workloadPieces()...)
	list = append(list, s.portPieces()...)
	list = append(list, s.probePieces()...)
	list = append(list, s.securityPieces()...)
	list = append(list, s.configPieces()...)
	list = append(list, s.accountPieces()...)
	list = append(list, s.networkPieces()...)
	list = append(list, s.operationPieces()...)
	list = append(list, s.taskPieces()...)
	return append(list, s.labelPieces()...)
}

// from returns the source for a field of the workload.
func (s *subject) from(field string) source { return source{describe(s.workload), field} }

func (s *subject) fromSpec(field string) source { return s.from("spec." + field) }

func (s *subject) fromPod(field string) source { return s.from(templatePath(field)) }

func (s *subject) fromMain(field string) source {
	return s.fromPod("containers[" + mainContainer + "]." + field)
}

// same returns a piece for each of the named fields of a struct that is set; for all of them if none is named. The part
// of the spec that it goes to has a field of the same name and content; a field that this part lacks is left out.
func same[T any](from func(field string) source, given any, part func(*v1.AppServiceSpec) *T, names ...string) []piece {
	all, into := reflect.ValueOf(given).Elem(), reflect.TypeFor[T]()
	var list []piece
	for _, field := range reflect.VisibleFields(all.Type()) {
		value := all.FieldByIndex(field.Index)
		to, has := into.FieldByName(field.Name)
		if value.IsZero() || !has || len(names) > 0 && !slices.Contains(names, field.Name) {
			continue
		}
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		list = append(list, piece{from: from(name), set: func(spec *v1.AppServiceSpec) {
			reflect.ValueOf(part(spec)).Elem().FieldByIndex(to.Index).Set(value.Convert(to.Type))
		}})
	}
	return list
}

func theSpec(spec *v1.AppServiceSpec) *v1.AppServiceSpec { return spec }

// made returns a part of a spec, and makes it first if there is none.
func made[T any](part **T) *T {
	fillPointer(part, *new(T))
	return *part
}

func (s *subject) containerPieces() []piece {
	c := s.container()
	list := []piece{
		{from: s.fromMain("image"), set: func(spec *v1.AppServiceSpec) { spec.Image = c.Image }},
	}
	list = append(list, same(s.fromMain, c, theSpec, "ImagePullPolicy", "Command", "Args", "WorkingDir")...)
	if len(c.Resources.Limits)+len(c.Resources.Requests)+len(c.Resources.Claims) > 0 {
		list = append(list, piece{from: s.fromMain("resources"), set: func(spec *v1.AppServiceSpec) { spec.Resources = &c.Resources }})
	}
	list = append(list, same(s.fromMain, c, theSpec, "Lifecycle")...)
	for _, variable := range c.Env {
		if s.saysPort(variable) {
			continue
		}
		list = append(list, piece{from: s.fromMain("env[" + variable.Name + "]"),
			set: func(spec *v1.AppServiceSpec) { spec.Envs = append(spec.Envs, variable) }})
	}
	config := -1
	if s.config != nil {
		config = s.configFrom()
	}
	for n, from := range c.EnvFrom {
		if n != config {
			list = append(list, piece{from: s.fromMain("envFrom"),
				set: func(spec *v1.AppServiceSpec) { spec.EnvFrom = append(spec.EnvFrom, from) }})
		}
	}
	for _, mount := range c.VolumeMounts {
		if s.claim != nil && mount.Name == dataVolume || s.files != nil && mount.Name == filesVolume ||
			s.mountsClaim(mount) {
			continue
		}
		list = append(list, piece{from: s.fromMain("volumeMounts[" + mount.MountPath + "]"),
			set: func(spec *v1.AppServiceSpec) { spec.VolumeMounts = append(spec.VolumeMounts, mount) }})
	}
	return list
}

// saysPort reports whether a variable is PORT with the first target port, which an AppService sets automatically.
func (s *subject) saysPort(variable corev1.EnvVar) bool {
	if variable.Name != "PORT" || s.service == nil {
		return false
	}
	for _, entry := range s.service.read.Spec.Ports {
		if number, found := portOf(s.container(), entry); found {
			return variable.Value == strconv.Itoa(int(number))
		}
	}
	return false
}

func (s *subject) podPieces() []piece {
	pod := &s.template.Spec
	var list []piece
	for _, volume := range pod.Volumes {
		if s.claim != nil && volume.Name == dataVolume || s.files != nil && volume.Name == filesVolume {
			continue
		}
		list = append(list, piece{from: s.fromPod("volumes[" + volume.Name + "]"),
			set: func(spec *v1.AppServiceSpec) { spec.Volumes = append(spec.Volumes, volume) }})
	}
	for _, c := range pod.InitContainers {
		sidecar := c.RestartPolicy != nil
		c.RestartPolicy = nil
		list = append(list, piece{from: s.fromPod("initContainers[" + c.Name + "]"), set: func(spec *v1.AppServiceSpec) {
			if sidecar {
				spec.Sidecars = append(spec.Sidecars, c)
			} else {
				spec.InitContainers = append(spec.InitContainers, c)
			}
		}})
	}
	for _, secret := range pod.ImagePullSecrets {
		list = append(list, piece{from: s.fromPod("imagePullSecrets[" + secret.Name + "]"), set: func(spec *v1.AppServiceSpec) {
			spec.ImagePullSecrets = append(spec.ImagePullSecrets, v1.LocalReference{Name: secret.Name})
		}})
	}
	list = append(list,
		piece{from: s.fromPod("nodeSelector"), set: func(spec *v1.AppServiceSpec) { spec.NodeSelector = asLabels(pod.NodeSelector) }},
		piece{from: s.fromPod("topologySpreadConstraints"), set: func(spec *v1.AppServiceSpec) {
			spec.TopologySpreadConstraints = s.spread()
		}},
	)
	return append(list, same(s.fromPod, pod, theSpec,
		"Tolerations", "Affinity", "PriorityClassName", "HostAliases", "DNSConfig", "TerminationGracePeriodSeconds")...)
}

// spread returns the topology spread constraints; those on the workload's own pods need no selector.
func (s *subject) spread() []corev1.TopologySpreadConstraint {
	list := slices.Clone(s.template.Spec.TopologySpreadConstraints)
	for n := range list {
		if s.ownPods(list[n].LabelSelector) {
			list[n].LabelSelector = nil
		}
	}
	return list
}

func (s *subject) workloadPieces() []piece {
	list := s.workloadAnnotations()
	size := func(replicas *int32) {
		if s.scaler == nil {
			list = append(list, piece{from: s.from("spec.replicas"), set: func(spec *v1.AppServiceSpec) { spec.Size = replicas }})
		} else if started, err := strconv.ParseInt(s.workload.GetAnnotations()[v1.AnnotationInitialReplicas], 10,
			32); err == nil {
			started := int32(started)
			list = append(list, piece{from: s.from("spec.replicas"), set: func(spec *v1.AppServiceSpec) { spec.Size = &started }})
		}
	}
	if d := s.deployment; d != nil {
		size(d.Spec.Replicas)
		if d.Spec.Strategy != (appsv1.DeploymentStrategy{}) {
			list = append(list, piece{from: s.from("spec.strategy"),
				set: func(spec *v1.AppServiceSpec) { spec.Strategy = &d.Spec.Strategy }})
		}
		list = append(list, same(s.fromSpec, &d.Spec, theSpec, "ProgressDeadlineSeconds", "RevisionHistoryLimit")...)
		return append(list, piece{from: s.from("spec.minReadySeconds"), set: func(spec *v1.AppServiceSpec) {
			spec.MinReadySeconds = notZero(d.Spec.MinReadySeconds)
		}})
	}
	t := s.stateful
	size(t.Spec.Replicas)
	list = append(list, same(s.fromSpec, &t.Spec, theSpec, "RevisionHistoryLimit")...)
	list = append(list, piece{from: s.from("spec.minReadySeconds"),
		set: func(spec *v1.AppServiceSpec) { spec.MinReadySeconds = notZero(t.Spec.MinReadySeconds) }})
	return append(list, s.statefulPieces()...)
}

func notZero(value int32) *int32 {
	if value == 0 {
		return nil
	}
	return &value
}

// portPieces returns the pieces for the ports of the Service.
func (s *subject) portPieces() []piece {
	if s.service == nil {
		return nil
	}
	from := func(field string) source { return source{describe(s.service.object), field} }
	var list []piece
	given := s.service.read
	plan := s.planPorts()
	for _, port := range plan.entries {
		list = append(list, piece{from: from("spec.ports[" + portKey(port.Port, port.Protocol) + "]"),
			set: func(spec *v1.AppServiceSpec) { spec.Ports = append(spec.Ports, port) }})
	}
	if annotations := foreignAnnotations(given.Annotations); len(annotations) > 0 {
		list = append(list, piece{from: from("metadata.annotations"), set: func(spec *v1.AppServiceSpec) {
			service(spec).Annotations = asAnnotations(annotations)
		}})
	}
	list = append(list, s.settingPieces(from)...)
	list = append(list, same(func(field string) source { return from("spec." + field) }, &given.Spec, service,
		"Type", "LoadBalancerSourceRanges")...)
	return append(list, s.furtherPieces(plan)...)
}

// longestPortName is that of a port of a container, which bears the name of the Service's port as well.
const longestPortName = 15

// portNames returns the names of the ports of a Service, shortened to names of container ports, each once.
func portNames(ports []corev1.ServicePort) []string {
	var out []string
	for _, port := range ports {
		out = append(out, port.Name)
	}
	for n, name := range out {
		if name == "" || isPortName(name) {
			continue
		}
		out[n] = ""
		short := strings.Trim(strings.ReplaceAll(name, "--", "-"), "-")
		if !strings.ContainsAny(short, "abcdefghijklmnopqrstuvwxyz") {
			short = "port-" + short
		}
		short = strings.TrimRight(short[:min(len(short), longestPortName)], "-")
		for m := 2; slices.Contains(out, short); m++ {
			end := "-" + strconv.Itoa(m)
			short = strings.TrimRight(short[:min(len(short), longestPortName-len(end))], "-") + end
		}
		out[n] = short
	}
	return out
}

// target returns the number of a port of the main container, or the name of a port of a sidecar.
func (s *subject) target(entry corev1.ServicePort) *intstr.IntOrString {
	if number, found := portOf(s.container(), entry); found {
		return ptr.To(intstr.FromInt32(number))
	}
	for n := range s.template.Spec.InitContainers {
		c := &s.template.Spec.InitContainers[n]
		if number, found := portOf(c, entry); found && c.RestartPolicy != nil {
			for _, port := range c.Ports {
				if port.ContainerPort == number && port.Name != "" {
					return ptr.To(intstr.FromString(port.Name))
				}
			}
		}
	}
	target := cmp.Or(entry.TargetPort, intstr.FromInt32(entry.Port))
	if target.Type == intstr.String { // no container has it: it leads nowhere
		return nil
	}
	return &target
}

func asLabels(set map[string]string) map[string]v1.Label {
	return convert(set, func(value string) v1.Label { return v1.Label(value) })
}

func asAnnotations(set map[string]string) map[string]v1.Annotation {
	return convert(set, func(value string) v1.Annotation { return v1.Annotation(value) })
}

func convert[T any](set map[string]string, as func(string) T) map[string]T {
	if len(set) == 0 {
		return nil
	}
	out := make(map[string]T, len(set))
	for key, value := range set {
		out[key] = as(value)
	}
	return out
}

// foreignAnnotations returns the annotations that are not set by the operator, Helm, kompose or Kubernetes.
func foreignAnnotations(all map[string]string) map[string]string {
	out := maps.Clone(all)
	maps.DeleteFunc(out, func(key, _ string) bool {
		domain, _, _ := strings.Cut(key, "/")
		return slices.Contains([]string{"app.example.com", "helm.sh", "meta.helm.sh", "deployment.kubernetes.io",
			"autoscaling.alpha.kubernetes.io"}, domain) ||
			slices.Contains([]string{
				"kubectl.kubernetes.io/last-applied-configuration", "kubectl.kubernetes.io/restartedAt",
				"validations.keda.sh/hpa-ownership", "kompose.cmd", "kompose.version",
				"pv.kubernetes.io/bind-completed", "pv.kubernetes.io/bound-by-controller", "volume.kubernetes.io/selected-node",
				"volume.kubernetes.io/storage-provisioner", "volume.beta.kubernetes.io/storage-provisioner",
			}, key)
	})
	return out
}
