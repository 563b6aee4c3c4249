package proof

import (
	"github.com/distribution/reference"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// The API server's defaults for rendered kinds. They are set on both sides of a comparison, because live objects have
// them and rendered ones do not.

// fill sets a field that is not set.
func fill[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// fillPointer sets a field that is nil.
func fillPointer[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}

// omit clears a field that has its default.
func omit[T comparable](field **T, value T) {
	if *field != nil && **field == value {
		*field = nil
	}
}

func defaultDeployment(d *appsv1.Deployment) {
	fillPointer(&d.Spec.Replicas, 1)
	fillPointer(&d.Spec.RevisionHistoryLimit, 10)
	fillPointer(&d.Spec.ProgressDeadlineSeconds, 600)
	fill(&d.Spec.Strategy.Type, appsv1.RollingUpdateDeploymentStrategyType)
	if d.Spec.Strategy.Type == appsv1.RollingUpdateDeploymentStrategyType {
		fillPointer(&d.Spec.Strategy.RollingUpdate, appsv1.RollingUpdateDeployment{})
		fillPointer(&d.Spec.Strategy.RollingUpdate.MaxSurge, intstr.FromString("25%"))
		fillPointer(&d.Spec.Strategy.RollingUpdate.MaxUnavailable, intstr.FromString("25%"))
	}
	defaultPod(&d.Spec.Template.Spec)
}

func defaultStatefulSet(s *appsv1.StatefulSet) {
	fillPointer(&s.Spec.Replicas, 1)
	fillPointer(&s.Spec.RevisionHistoryLimit, 10)
	fill(&s.Spec.PodManagementPolicy, appsv1.OrderedReadyPodManagement)
	fill(&s.Spec.UpdateStrategy.Type, appsv1.RollingUpdateStatefulSetStrategyType)
	if s.Spec.UpdateStrategy.Type == appsv1.RollingUpdateStatefulSetStrategyType {
		fillPointer(&s.Spec.UpdateStrategy.RollingUpdate, appsv1.RollingUpdateStatefulSetStrategy{})
		fillPointer(&s.Spec.UpdateStrategy.RollingUpdate.Partition, 0)
		fillPointer(&s.Spec.UpdateStrategy.RollingUpdate.MaxUnavailable, intstr.FromInt32(1)) // set since Kubernetes 1.37
	}
	fillPointer(&s.Spec.PersistentVolumeClaimRetentionPolicy, appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{})
	fill(&s.Spec.PersistentVolumeClaimRetentionPolicy.WhenDeleted, appsv1.RetainPersistentVolumeClaimRetentionPolicyType)
	fill(&s.Spec.PersistentVolumeClaimRetentionPolicy.WhenScaled, appsv1.RetainPersistentVolumeClaimRetentionPolicyType)
	for n := range s.Spec.VolumeClaimTemplates {
		s.Spec.VolumeClaimTemplates[n].Status = corev1.PersistentVolumeClaimStatus{}
		s.Spec.VolumeClaimTemplates[n].APIVersion, s.Spec.VolumeClaimTemplates[n].Kind = "", ""
		defaultClaim(&s.Spec.VolumeClaimTemplates[n].Spec)
	}
	defaultPod(&s.Spec.Template.Spec)
}

func defaultClaim(c *corev1.PersistentVolumeClaimSpec) {
	fillPointer(&c.VolumeMode, corev1.PersistentVolumeFilesystem)
	c.VolumeName = "" // the volume that it was bound to
}

func defaultPod(p *corev1.PodSpec) {
	fill(&p.RestartPolicy, corev1.RestartPolicyAlways)
	fill(&p.DNSPolicy, corev1.DNSClusterFirst)
	fill(&p.SchedulerName, corev1.DefaultSchedulerName)
	fill(&p.ServiceAccountName, p.DeprecatedServiceAccount) // its deprecated name
	fill(&p.ServiceAccountName, "default")
	p.DeprecatedServiceAccount = ""
	fillPointer(&p.TerminationGracePeriodSeconds, 30)
	fillPointer(&p.EnableServiceLinks, true)
	fillPointer(&p.AutomountServiceAccountToken, true)
	fillPointer(&p.SecurityContext, corev1.PodSecurityContext{})
	omit(&p.ShareProcessNamespace, false)
	for n := range p.Containers {
		defaultContainer(&p.Containers[n])
	}
	for n := range p.InitContainers {
		defaultContainer(&p.InitContainers[n])
	}
	for n := range p.Volumes {
		defaultVolume(&p.Volumes[n])
	}
}

func defaultContainer(c *corev1.Container) {
	fill(&c.ImagePullPolicy, pullPolicy(c.Image))
	fill(&c.TerminationMessagePath, corev1.TerminationMessagePathDefault)
	fill(&c.TerminationMessagePolicy, corev1.TerminationMessageReadFile)
	fillPointer(&c.SecurityContext, corev1.SecurityContext{})
	omit(&c.SecurityContext.Privileged, false)
	omit(&c.SecurityContext.ReadOnlyRootFilesystem, false)
	for n := range c.Ports {
		fill(&c.Ports[n].Protocol, corev1.ProtocolTCP)
	}
	for _, probe := range []*corev1.Probe{c.LivenessProbe, c.ReadinessProbe, c.StartupProbe} {
		if probe == nil {
			continue
		}
		fill(&probe.TimeoutSeconds, 1)
		fill(&probe.PeriodSeconds, 10)
		fill(&probe.SuccessThreshold, 1)
		fill(&probe.FailureThreshold, 3)
		defaultGet(probe.HTTPGet)
		if probe.GRPC != nil {
			fillPointer(&probe.GRPC.Service, "")
		}
	}
	if c.Lifecycle != nil {
		for _, handler := range []*corev1.LifecycleHandler{c.Lifecycle.PostStart, c.Lifecycle.PreStop} {
			if handler != nil {
				defaultGet(handler.HTTPGet)
			}
		}
	}
	for n := range c.Env {
		if from := c.Env[n].ValueFrom; from != nil && from.FieldRef != nil {
			fill(&from.FieldRef.APIVersion, "v1")
		}
	}
	defaultResources(&c.Resources)
}

// pullPolicy returns the default for an image: one with the tag latest, or with neither tag nor digest, is always
// pulled. Without the name of an image, it is not.
func pullPolicy(image string) corev1.PullPolicy {
	named, err := reference.ParseNormalizedNamed(image)
	if err != nil {
		return corev1.PullIfNotPresent
	}
	if tagged, is := reference.TagNameOnly(named).(reference.Tagged); is && tagged.Tag() == "latest" {
		return corev1.PullAlways
	}
	return corev1.PullIfNotPresent
}

func defaultGet(get *corev1.HTTPGetAction) {
	if get != nil {
		fill(&get.Path, "/")
		fill(&get.Scheme, corev1.URISchemeHTTP)
	}
}

// defaultResources sets missing requests to the limits.
func defaultResources(r *corev1.ResourceRequirements) {
	for name, limit := range r.Limits {
		if _, there := r.Requests[name]; !there {
			if r.Requests == nil {
				r.Requests = corev1.ResourceList{}
			}
			r.Requests[name] = limit
		}
	}
}

func defaultVolume(v *corev1.Volume) {
	const mode = 0o644
	switch {
	case v.HostPath != nil:
		fillPointer(&v.HostPath.Type, corev1.HostPathUnset)
	case v.VolumeSource == (corev1.VolumeSource{}):
		v.EmptyDir = &corev1.EmptyDirVolumeSource{}
	case v.ConfigMap != nil:
		fillPointer(&v.ConfigMap.DefaultMode, mode)
	case v.Secret != nil:
		fillPointer(&v.Secret.DefaultMode, mode)
	case v.DownwardAPI != nil:
		fillPointer(&v.DownwardAPI.DefaultMode, mode)
	case v.Projected != nil:
		fillPointer(&v.Projected.DefaultMode, mode)
		for n := range v.Projected.Sources {
			if token := v.Projected.Sources[n].ServiceAccountToken; token != nil {
				fillPointer(&token.ExpirationSeconds, 3600)
			}
		}
	}
}

// defaultService also clears the fields that the API server allocates.
func defaultService(s *corev1.Service) {
	fill(&s.Spec.Type, corev1.ServiceTypeClusterIP)
	fill(&s.Spec.SessionAffinity, corev1.ServiceAffinityNone)
	if s.Spec.SessionAffinity == corev1.ServiceAffinityClientIP {
		fillPointer(&s.Spec.SessionAffinityConfig, corev1.SessionAffinityConfig{ClientIP: &corev1.ClientIPConfig{}})
		if s.Spec.SessionAffinityConfig.ClientIP != nil {
			fillPointer(&s.Spec.SessionAffinityConfig.ClientIP.TimeoutSeconds, corev1.DefaultClientIPServiceAffinitySeconds)
		}
	}
	fillPointer(&s.Spec.InternalTrafficPolicy, corev1.ServiceInternalTrafficPolicyCluster)
	if s.Spec.Type == corev1.ServiceTypeLoadBalancer {
		fillPointer(&s.Spec.AllocateLoadBalancerNodePorts, true)
	}
	if s.Spec.Type != corev1.ServiceTypeClusterIP {
		fill(&s.Spec.ExternalTrafficPolicy, corev1.ServiceExternalTrafficPolicyCluster)
	}
	fillPointer(&s.Spec.IPFamilyPolicy, corev1.IPFamilyPolicySingleStack)
	if len(s.Spec.IPFamilies) == 1 && s.Spec.IPFamilies[0] == corev1.IPv4Protocol { // that of most clusters
		s.Spec.IPFamilies = nil
	}
	s.Spec.ClusterIPs, s.Spec.HealthCheckNodePort = nil, 0
	if s.Spec.ClusterIP != corev1.ClusterIPNone {
		s.Spec.ClusterIP = ""
	}
	for n := range s.Spec.Ports {
		fill(&s.Spec.Ports[n].Protocol, corev1.ProtocolTCP)
		fill(&s.Spec.Ports[n].TargetPort, intstr.FromInt32(s.Spec.Ports[n].Port))
	}
}

func defaultIngress(i *networkingv1.Ingress) {
	for _, rule := range i.Spec.Rules {
		if rule.HTTP == nil {
			continue
		}
		for n := range rule.HTTP.Paths {
			fill(&rule.HTTP.Paths[n].Path, "/")
			fillPointer(&rule.HTTP.Paths[n].PathType, networkingv1.PathTypeImplementationSpecific)
		}
	}
}

func defaultScaler(a *autoscalingv2.HorizontalPodAutoscaler) {
	fillPointer(&a.Spec.MinReplicas, 1)
	if len(a.Spec.Metrics) == 0 {
		utilization := int32(80)
		a.Spec.Metrics = []autoscalingv2.MetricSpec{{Type: autoscalingv2.ResourceMetricSourceType,
			Resource: &autoscalingv2.ResourceMetricSource{
				Name: corev1.ResourceCPU, Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType,
					AverageUtilization: &utilization},
			}}}
	}
	if a.Spec.Behavior == nil {
		return
	}
	defaultScaling(&a.Spec.Behavior.ScaleUp, 0, []autoscalingv2.HPAScalingPolicy{
		{Type: autoscalingv2.PodsScalingPolicy, Value: 4, PeriodSeconds: 15},
		{Type: autoscalingv2.PercentScalingPolicy, Value: 100, PeriodSeconds: 15},
	})
	defaultScaling(&a.Spec.Behavior.ScaleDown, -1,
		[]autoscalingv2.HPAScalingPolicy{{Type: autoscalingv2.PercentScalingPolicy, Value: 100, PeriodSeconds: 15}})
}

// defaultScaling sets the defaults of one direction. A negative window stands for none.
func defaultScaling(rules **autoscalingv2.HPAScalingRules, window int32, policies []autoscalingv2.HPAScalingPolicy) {
	fillPointer(rules, autoscalingv2.HPAScalingRules{})
	if window >= 0 {
		fillPointer(&(*rules).StabilizationWindowSeconds, window)
	}
	fillPointer(&(*rules).SelectPolicy, autoscalingv2.MaxChangePolicySelect)
	if len((*rules).Policies) == 0 {
		(*rules).Policies = policies
	}
}

func defaultJob(j *batchv1.JobSpec) {
	fillPointer(&j.BackoffLimit, 6)
	fillPointer(&j.CompletionMode, batchv1.NonIndexedCompletion)
	if j.Completions == nil && j.Parallelism == nil {
		fillPointer(&j.Completions, 1)
	}
	fillPointer(&j.Parallelism, 1)
	fillPointer(&j.Suspend, false)
	fillPointer(&j.PodReplacementPolicy, batchv1.TerminatingOrFailed)
	j.Selector, j.ManualSelector = nil, nil // made by the API server
	defaultPod(&j.Template.Spec)
}

func defaultCronJob(c *batchv1.CronJob) {
	fill(&c.Spec.ConcurrencyPolicy, batchv1.AllowConcurrent)
	fillPointer(&c.Spec.Suspend, false)
	fillPointer(&c.Spec.SuccessfulJobsHistoryLimit, 3)
	fillPointer(&c.Spec.FailedJobsHistoryLimit, 1)
	defaultJob(&c.Spec.JobTemplate.Spec)
}

func defaultPolicy(p *networkingv1.NetworkPolicy) {
	if len(p.Spec.PolicyTypes) == 0 {
		p.Spec.PolicyTypes = []networkingv1.PolicyType{networkingv1.PolicyTypeIngress}
		if len(p.Spec.Egress) > 0 {
			p.Spec.PolicyTypes = append(p.Spec.PolicyTypes, networkingv1.PolicyTypeEgress)
		}
	}
	for n := range p.Spec.Ingress {
		defaultPolicyPorts(p.Spec.Ingress[n].Ports)
	}
	for n := range p.Spec.Egress {
		defaultPolicyPorts(p.Spec.Egress[n].Ports)
	}
}

func defaultPolicyPorts(ports []networkingv1.NetworkPolicyPort) {
	for n := range ports {
		fillPointer(&ports[n].Protocol, corev1.ProtocolTCP)
	}
}
