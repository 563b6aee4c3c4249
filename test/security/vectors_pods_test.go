//go:build cluster

package security

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	v1 "github.com/example/appservice-operator/api/v1"
)

// Pods that reach for their node. Fields without a rule in the schema, and podTemplate, are checked in the rendered pods.
var _ = register(vectors{
	"the network of the node":               rendered(`podTemplate: {spec: {hostNetwork: true}}`, "host namespaces", func(p *corev1.PodSpec) bool { return p.HostNetwork }),
	"the processes of the node":             rendered(`podTemplate: {spec: {hostPID: true}}`, "host namespaces", func(p *corev1.PodSpec) bool { return p.HostPID }),
	"the shared memory of the node":         rendered(`podTemplate: {spec: {hostIPC: true}}`, "host namespaces", func(p *corev1.PodSpec) bool { return p.HostIPC }),
	"a privileged app by podTemplate":       rendered(`podTemplate: {spec: {containers: [{name: app, securityContext: {privileged: true, allowPrivilegeEscalation: true}}]}}`, "privileged", privileged),
	"a privileged sidecar by podTemplate":   rendered(`podTemplate: {spec: {containers: [{name: app}, {name: b, image: b, securityContext: {privileged: true, allowPrivilegeEscalation: true}}]}}`, "privileged", privileged),
	"a privileged init by podTemplate":      rendered(`podTemplate: {spec: {initContainers: [{name: b, image: b, securityContext: {privileged: true, allowPrivilegeEscalation: true}}]}}`, "privileged", privileged),
	"a folder of the node by podTemplate":   rendered(`podTemplate: {spec: {volumes: [{name: a, hostPath: {path: /}}]}}`, "hostPath", hostPath),
	"a capability of a sidecar":             rendered(`sidecars: [{name: b, image: b, securityContext: {capabilities: {add: [SYS_ADMIN]}}}]`, "SYS_ADMIN", capability("SYS_ADMIN")),
	"a capability of an init container":     rendered(`initContainers: [{name: b, image: b, securityContext: {capabilities: {add: [NET_RAW]}}}]`, "NET_RAW", capability("NET_RAW")),
	"a capability by podTemplate":           rendered(`podTemplate: {spec: {containers: [{name: app, securityContext: {capabilities: {add: [ALL]}}}]}}`, "ALL", capability("ALL")),
	"a port of the node":                    rendered(`sidecars: [{name: b, image: b, ports: [{containerPort: 80, hostPort: 80}]}]`, "hostPort", hostPort),
	"a port of the node by podTemplate":     rendered(`podTemplate: {spec: {containers: [{name: app, ports: [{containerPort: 80, hostPort: 80}]}]}}`, "hostPort", hostPort),
	"a sysctl":                              rendered(`security: {pod: {sysctls: [{name: kernel.msgmax, value: "65536"}]}}`, "kernel.msgmax", sysctl),
	"a sysctl by podTemplate":               rendered(`podTemplate: {spec: {securityContext: {sysctls: [{name: kernel.msgmax, value: "1"}]}}}`, "kernel.msgmax", sysctl),
	"no seccomp by podTemplate":             rendered(`podTemplate: {spec: {securityContext: {seccompProfile: {type: Unconfined}}}}`, "seccomp", unconfined),
	"a host in a probe of a sidecar":        rendered(`sidecars: [{name: b, image: b, livenessProbe: {httpGet: {host: 169.254.169.254, port: 80}}}]`, "169.254.169.254", otherHost),
	"a host in a probe by podTemplate":      rendered(`podTemplate: {spec: {containers: [{name: app, livenessProbe: {tcpSocket: {host: 10.0.0.1, port: 80}}}]}}`, "10.0.0.1", otherHost),
	"a host in a hook by podTemplate":       rendered(`podTemplate: {spec: {containers: [{name: app, lifecycle: {preStop: {exec: null, httpGet: {host: 10.0.0.1, port: 80}}}}]}}`, "10.0.0.1", otherHost),
	"a host in a hook of a sidecar":         rendered(`sidecars: [{name: b, image: b, lifecycle: {postStart: {httpGet: {host: 10.0.0.1, port: 80}}}}]`, "10.0.0.1", otherHost),
	"root where that is restricted":         restricted(`security: {pod: {runAsUser: 0}}`, "runAsUser", func(p *corev1.PodSpec) bool { return *p.SecurityContext.RunAsUser == 0 }),
	"root by podTemplate, restricted":       restricted(`podTemplate: {spec: {securityContext: {runAsUser: 0}}}`, "runAsUser", func(p *corev1.PodSpec) bool { return *p.SecurityContext.RunAsUser == 0 }),
	"escalation where that is restricted":   restricted(`sidecars: [{name: b, image: b, securityContext: {allowPrivilegeEscalation: true}}]`, "allowPrivilegeEscalation", escalates),
	"escalation by podTemplate, restricted": restricted(`podTemplate: {spec: {containers: [{name: app, securityContext: {allowPrivilegeEscalation: true}}]}}`, "allowPrivilegeEscalation", escalates),

	"a privileged app":            ruled(`security: {container: {privileged: true, allowPrivilegeEscalation: true}}`, "must not be privileged", privileged),
	"a privileged sidecar":        ruled(`sidecars: [{name: b, image: b, securityContext: {privileged: true, allowPrivilegeEscalation: true}}]`, "must not be privileged", privileged),
	"a privileged init container": ruled(`initContainers: [{name: b, image: b, securityContext: {privileged: true, allowPrivilegeEscalation: true}}]`, "must not be privileged", privileged),
	"a folder of the node":        ruled(`volumes: [{name: a, hostPath: {path: /}}]`, "hostPath is not allowed", hostPath),
	"a capability of the app":     ruled(`security: {container: {capabilities: {add: [SYS_ADMIN]}}}`, "may only name those of Pod Security", capability("SYS_ADMIN")),
	"no seccomp":                  ruled(`security: {pod: {seccompProfile: {type: Unconfined}}}`, "must not set seccompProfile Unconfined", unconfined),
	"a host in a hook":            ruled(`lifecycle: {postStart: {httpGet: {host: 10.0.0.1, port: 80}}}`, "hooks always call the pod itself", otherHost),
})

// rendered is a vector whose pods are below Baseline.
func rendered(spec, word string, harm func(*corev1.PodSpec) bool) vector {
	return vector{
		does: applies(spec), harm: pods(harm),
		guard: "Pod Security Baseline, on rendered pods", reason: v1.ReasonPodSecurityViolation, words: []string{`"baseline"`, word},
	}
}

// restricted is a vector whose pods are below Restricted, which the namespace enforces.
func restricted(spec, word string, harm func(*corev1.PodSpec) bool) vector {
	return vector{
		does: applies(spec), harm: pods(harm), level: "restricted",
		guard: "the Pod Security level of the namespace, on rendered pods", reason: v1.ReasonPodSecurityViolation, words: []string{`"restricted"`, word},
	}
}

// ruled is a vector that a rule of the CRD refuses.
func ruled(spec, word string, harm func(*corev1.PodSpec) bool) vector {
	return vector{does: applies(spec), harm: pods(harm), guard: "a rule of the CRD", rule: true, words: []string{word}}
}

// some reports whether a container of pods meets a condition.
func some(p *corev1.PodSpec, holds func(corev1.Container) bool) bool {
	return slices.ContainsFunc(p.Containers, holds) || slices.ContainsFunc(p.InitContainers, holds)
}

// secured reports whether the security context of a container meets a condition.
func secured(p *corev1.PodSpec, holds func(*corev1.SecurityContext) bool) bool {
	return some(p, func(c corev1.Container) bool { return c.SecurityContext != nil && holds(c.SecurityContext) })
}

func privileged(p *corev1.PodSpec) bool {
	return secured(p, func(s *corev1.SecurityContext) bool { return ptr.Deref(s.Privileged, false) })
}

func escalates(p *corev1.PodSpec) bool {
	return secured(p, func(s *corev1.SecurityContext) bool { return ptr.Deref(s.AllowPrivilegeEscalation, false) })
}

func capability(name corev1.Capability) func(*corev1.PodSpec) bool {
	return func(p *corev1.PodSpec) bool {
		return secured(p, func(s *corev1.SecurityContext) bool {
			return s.Capabilities != nil && slices.Contains(s.Capabilities.Add, name)
		})
	}
}

func unconfined(p *corev1.PodSpec) bool {
	return p.SecurityContext.SeccompProfile.Type == corev1.SeccompProfileTypeUnconfined
}

func sysctl(p *corev1.PodSpec) bool { return len(p.SecurityContext.Sysctls) > 0 }

func hostPath(p *corev1.PodSpec) bool {
	return slices.ContainsFunc(p.Volumes, func(v corev1.Volume) bool { return v.HostPath != nil })
}

func hostPort(p *corev1.PodSpec) bool {
	return some(p, func(c corev1.Container) bool {
		return slices.ContainsFunc(c.Ports, func(p corev1.ContainerPort) bool { return p.HostPort != 0 })
	})
}

// otherHost reports whether the kubelet connects to another host than the pod.
func otherHost(p *corev1.PodSpec) bool {
	return some(p, func(c corev1.Container) bool {
		text := c.LivenessProbe.String()
		if c.Lifecycle != nil {
			text += c.Lifecycle.PostStart.String() + c.Lifecycle.PreStop.String()
		}
		return strings.Contains(text, "Host:1")
	})
}
