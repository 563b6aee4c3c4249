package importer

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"

	v1 "github.com/example/appservice-operator/api/v1"
)

func (s *subject) operationPieces() []piece {
	var list []piece
	if s.scaler != nil {
		list = append(list, piece{from: source{describe(s.scaler.object), "spec"}, set: s.toAutoscaling})
	}
	if s.budget != nil {
		budget := s.budget.read
		list = append(list, piece{from: source{describe(s.budget.object), "spec"}, set: func(spec *v1.AppServiceSpec) {
			spec.PodDisruptionBudget = &v1.PodDisruptionBudget{Enabled: ptr.To(true), MinAvailable: budget.Spec.MinAvailable,
				MaxUnavailable: budget.Spec.MaxUnavailable}
		}})
	}
	if s.monitor != nil {
		list = append(list, piece{from: source{describe(s.monitor), "spec"}, set: s.toMonitoring})
	}
	if s.claim != nil {
		list = append(list, piece{from: source{describe(s.claim.object), "spec"}, set: func(spec *v1.AppServiceSpec) {
			spec.Persistence = persistence(&s.claim.read.Spec, s.mountsOf(dataVolume)[0].MountPath)
			spec.Persistence.Annotations = claimAnnotations(s.claim.read.Annotations)
		}})
	}
	return list
}

func persistence(claim *corev1.PersistentVolumeClaimSpec, mountPath string) *v1.Persistence {
	return &v1.Persistence{
		Size: claim.Resources.Requests[corev1.ResourceStorage], StorageClassName: claim.StorageClassName,
		AccessModes: claim.AccessModes, MountPath: mountPath,
	}
}

func (s *subject) toAutoscaling(spec *v1.AppServiceSpec) {
	given := s.scaler.read.Spec
	out := &v1.Autoscaling{MinReplicas: given.MinReplicas, MaxReplicas: given.MaxReplicas, Behavior: given.Behavior}
	for _, metric := range given.Metrics {
		utilization := metric.Type == autoscalingv2.ResourceMetricSourceType && metric.Resource != nil &&
			metric.Resource.Target.Type == autoscalingv2.UtilizationMetricType
		switch {
		case utilization && metric.Resource.Name == corev1.ResourceCPU && out.TargetCPUUtilizationPercentage == nil:
			out.TargetCPUUtilizationPercentage = metric.Resource.Target.AverageUtilization
		case utilization && metric.Resource.Name == corev1.ResourceMemory && out.TargetMemoryUtilizationPercentage == nil:
			out.TargetMemoryUtilizationPercentage = metric.Resource.Target.AverageUtilization
		default:
			out.Metrics = append(out.Metrics, metric)
		}
	}
	spec.Autoscaling = out
}

// takeMonitor converts a ServiceMonitor with one endpoint.
func (s *subject) takeMonitor(monitors []*unstructured.Unstructured) {
	for _, monitor := range monitors {
		endpoints, _, _ := unstructured.NestedSlice(monitor.Object, "spec", "endpoints")
		if s.monitor == nil && len(endpoints) == 1 && s.scraped(monitor) != nil {
			s.monitor = monitor
			s.take(monitor)
			continue
		}
		s.stays(monitor, "spec.monitoring scrapes one port of the Service")
	}
}

// scraped returns the port of the Service that a ServiceMonitor scrapes.
func (s *subject) scraped(monitor *unstructured.Unstructured) *corev1.ServicePort {
	endpoints, _, _ := unstructured.NestedSlice(monitor.Object, "spec", "endpoints")
	if s.service == nil || len(endpoints) == 0 {
		return nil
	}
	endpoint := list(endpoints)[0]
	ports := s.entries()
	for n := range ports {
		if name, _ := endpoint["port"].(string); name != "" && ports[n].Name == name {
			return &ports[n]
		}
		if target := endpoint["targetPort"]; target != nil {
			wanted := ports[n].TargetPort.String()
			if number, is := target.(int64); is {
				wanted = numberIn(s.template, ports[n].TargetPort)
				target = strconv.FormatInt(number, 10)
			}
			if target == wanted {
				return &ports[n]
			}
		}
	}
	return nil
}

func (s *subject) toMonitoring(spec *v1.AppServiceSpec) {
	endpoints, _, _ := unstructured.NestedSlice(s.monitor.Object, "spec", "endpoints")
	endpoint := fields{list(endpoints)[0], new(bool)}
	out := &v1.Monitoring{Enabled: true, Path: endpoint.text("path"), Interval: endpoint.text("interval"),
		Port: &s.scraped(s.monitor).Port}
	if labels := s.ownLabels(s.monitor.GetLabels()); len(labels) > 0 {
		common := s.commonLabels()
		maps.DeleteFunc(labels, func(key, value string) bool { return common[key] == value && value != "" })
		out.Labels = asLabels(labels)
	}
	spec.Monitoring = out
}

// takeClaim converts the PersistentVolumeClaim of the workload's name, if only the main container mounts it, and as a
// whole.
func (s *subject) takeClaim(list []pair[corev1.PersistentVolumeClaim]) {
	for _, p := range list {
		if s.stateful == nil && p.read.Name == s.name && !s.world.taken[p.object] {
			s.claim = &p
			volume := s.claimVolume()
			mounts := s.mountsOf(volume)
			if volume != "" && len(mounts) == 1 && mounts[0].SubPath == "" && mounts[0].SubPathExpr == "" &&
				!mounts[0].ReadOnly {
				s.take(p.object)
				continue
			}
			s.claim = nil
		}
		if s.world.taken[p.object] {
			continue // another one that mounts it keeps it
		}
		s.aside(p.object, "it stays as it is: the AppService refers to it by spec.volumes, as the workload did",
			"keep it beside the AppService")
	}
}

// claimVolume returns the name of the volume of the PersistentVolumeClaim.
func (s *subject) claimVolume() string {
	at := slices.IndexFunc(s.template.Spec.Volumes, func(v corev1.Volume) bool {
		return v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == s.claim.read.Name &&
			!v.PersistentVolumeClaim.ReadOnly
	})
	if at < 0 {
		return ""
	}
	return s.template.Spec.Volumes[at].Name
}

// claimTemplate returns the volumeClaimTemplate of a StatefulSet that spec.persistence can express.
func (s *subject) claimTemplate() *corev1.PersistentVolumeClaim {
	if s.stateful == nil {
		return nil
	}
	for n := range s.stateful.Spec.VolumeClaimTemplates {
		template, mounts := &s.stateful.Spec.VolumeClaimTemplates[n], s.mountsOf(dataVolume)
		if template.Name == dataVolume && len(mounts) == 1 && s.mountsClaim(*mounts[0]) && mounts[0].SubPath == "" &&
			!mounts[0].ReadOnly {
			return template
		}
	}
	return nil
}

// perReplica sets spec.persistence of a StatefulSet.
func (s *subject) perReplica(spec *v1.AppServiceSpec) {
	template := s.claimTemplate()
	if template == nil {
		return
	}
	spec.Persistence = persistence(&template.Spec, s.mountsOf(dataVolume)[0].MountPath)
	spec.Persistence.PerReplica, spec.Persistence.Annotations = true, claimAnnotations(template.Annotations)
	spec.Persistence.PodManagementPolicy = s.stateful.Spec.PodManagementPolicy
	if policy := s.stateful.Spec.PersistentVolumeClaimRetentionPolicy; policy != nil {
		retain := policy.WhenDeleted != "Delete"
		spec.Persistence.Retain, spec.Persistence.WhenScaled = &retain, policy.WhenScaled
	}
}

// accountPieces returns the pieces for the service account of the pods. A token is mounted if the original requests it,
// or creates an account.
func (s *subject) accountPieces() []piece {
	pod := &s.template.Spec
	name := cmp.Or(pod.ServiceAccountName, "default")
	token := name != "default"
	if s.account != nil {
		token = ptr.Deref(s.account.read.AutomountServiceAccountToken, token)
	}
	token = ptr.Deref(pod.AutomountServiceAccountToken, token)
	if name == "default" && !token {
		return nil
	}
	return []piece{{from: s.fromPod("serviceAccountName"), set: func(spec *v1.AppServiceSpec) {
		create := s.account != nil
		spec.ServiceAccount = &v1.ServiceAccount{Create: &create, Name: name, AutomountToken: token}
		if create {
			spec.ServiceAccount.Annotations = asAnnotations(foreignAnnotations(s.account.read.Annotations))
		}
	}}}
}
