//go:build cluster

package security

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
)

// Fields that the platform's policy forbids by default: annotations that other controllers obey, fields that keep nodes busy, and volumes of unchecked kinds.
var _ = register(vectors{
	"an alias of another's host":       annotates("nginx.ingress.kubernetes.io/server-alias", "shop.VICTIM.example.com"),
	"a snippet for a server":           annotates("nginx.ingress.kubernetes.io/server-snippet", "return 200;"),
	"a snippet for a location":         annotates("nginx.ingress.kubernetes.io/configuration-snippet", "return 200;"),
	"a URL that decides who may pass":  annotates("nginx.ingress.kubernetes.io/auth-url", "http://169.254.169.254/"),
	"a redirect to elsewhere":          annotates("nginx.ingress.kubernetes.io/permanent-redirect", "https://elsewhere.example.org"),
	"a canary of another's host":       annotates("nginx.ingress.kubernetes.io/canary", "true"),
	"a name in DNS by an Ingress":      annotates("external-dns.alpha.kubernetes.io/hostname", "www.example.com"),
	"names in another's certificate":   annotates("cert-manager.io/alt-names", "shop.VICTIM.example.com"),
	"a name in DNS by a Service":       allocates("external-dns.alpha.kubernetes.io/hostname", "www.example.com"),
	"an address of MetalLB":            allocates("metallb.io/loadBalancerIPs", "192.0.2.1"),
	"an address of MetalLB, as before": allocates("metallb.universe.tf/allow-shared-ip", "shared"),
	"a network of another namespace":   joins("k8s.v1.cni.cncf.io/networks", "VICTIM/internal"),
	"devices of the container runtime": joins("io.kubernetes.cri-o.Devices", "/dev/kmsg"),
	"an annotation of a volume's claim": scheduled(volumeOf(`ephemeral: {volumeClaimTemplate: {metadata: {annotations: {volume.kubernetes.io/storage-provisioner: d.example.com}}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Mi}}}}}`), "annotation volume.kubernetes.io/storage-provisioner", hasVolume(func(v corev1.Volume) bool {
		return v.Ephemeral != nil && len(v.Ephemeral.VolumeClaimTemplate.Annotations) > 0
	})),
	"a class that evicts all others":      scheduled(`podTemplate: {spec: {priorityClassName: system-node-critical}}`, "priorityClasses", func(p *corev1.PodSpec) bool { return p.PriorityClassName == "system-node-critical" }),
	"the control plane's taint":           scheduled(`tolerations: [{key: node-role.kubernetes.io/control-plane, operator: Exists}]`, "tolerations", tolerates("node-role.kubernetes.io/control-plane")),
	"every taint":                         scheduled(`tolerations: [{operator: Exists}]`, "every taint", tolerates("")),
	"every taint by podTemplate":          scheduled(`podTemplate: {spec: {tolerations: [{operator: Exists}]}}`, "every taint", tolerates("")),
	"a node by its name, by podTemplate":  scheduled(`podTemplate: {spec: {nodeName: node-1}}`, "nodeNames", func(p *corev1.PodSpec) bool { return p.NodeName != "" }),
	"a volume of a driver":                scheduled(volumeOf(`csi: {driver: d.example.com}`), "volumeTypes", hasVolume(func(v corev1.Volume) bool { return v.CSI != nil })),
	"a volume of NFS":                     scheduled(volumeOf(`nfs: {server: 10.0.0.1, path: /}`), "volumeTypes", hasVolume(func(v corev1.Volume) bool { return v.NFS != nil })),
	"a volume of iSCSI":                   scheduled(volumeOf(`iscsi: {targetPortal: "10.0.0.1:3260", iqn: "iqn.2001-04.com.example:a", lun: 0}`), "volumeTypes", hasVolume(func(v corev1.Volume) bool { return v.ISCSI != nil })),
	"a volume of a repository":            scheduled(volumeOf(`gitRepo: {repository: "https://example.com/a.git"}`), "volumeTypes", hasVolume(func(v corev1.Volume) bool { return v.GitRepo != nil })),
	"a flex volume":                       scheduled(volumeOf(`flexVolume: {driver: example.com/d}`), "volumeTypes", hasVolume(func(v corev1.Volume) bool { return v.FlexVolume != nil })),
	"a scratch volume as large as a disk": scheduled(`volumes: [{name: a, emptyDir: {sizeLimit: 9000Ti}}]`, "maxStorage", hasVolume(func(v corev1.Volume) bool { return v.EmptyDir != nil && v.EmptyDir.SizeLimit != nil })),

	"a rewrite that ends its quotes":                       annotates("nginx.ingress.kubernetes.io/rewrite-target", `/$1" break; } location /pwn { return 200 "x`),
	"a rewrite to elsewhere":                               annotates("nginx.ingress.kubernetes.io/rewrite-target", "https://elsewhere.example.org"),
	"a cookie's path that stops each reload":               annotates("nginx.ingress.kubernetes.io/proxy-cookie-path", "/a / /"),
	"a line of its own in nginx's configuration":           annotates("nginx.ingress.kubernetes.io/proxy-body-size", "1m;\nreturn 200"),
	"a path that ends its quotes":                          policed(`{ports: [{port: 80}], ingress: {className: nginx, hosts: [{host: NAMESPACE.example.com, paths: [{path: '/a"{};', pathType: ImplementationSpecific}]}]}}`, "paths allows *=", is("app", anything[*networkingv1.Ingress])),
	"out of the mesh by a label":                           labels("sidecar.istio.io/inject", "false"),
	"out of the ambient mesh by a label":                   labels("istio.io/dataplane-mode", "none"),
	"out of another mesh by a label":                       labels("kuma.io/sidecar-injection", "disabled"),
	"out of an agent's sight by a label":                   labels("admission.datadoghq.com/enabled", "false"),
	"a priority in a queue by a label":                     labels("kueue.x-k8s.io/priority-class", "high"),
	"kept from backups by a label":                         labels("velero.io/exclude-from-backup", "true"),
	"a dashboard for everybody by a label":                 policed(`{commonLabels: {grafana_dashboard: "1"}, config: {files: {evil.json: "{}"}}}`, "label grafana_dashboard", is("app-files", func(c *corev1.ConfigMap) bool { return c.Labels["grafana_dashboard"] != "" })),
	"a container of its own in the mesh's place":           joins("proxy.istio.io/overrides", `{"containers":[{"name":"istio-proxy","image":"registry.invalid/a"}]}`),
	"an image in place of the mesh's proxy":                joins("sidecar.istio.io/proxyImage", "registry.invalid/a"),
	"the environment of the mesh's proxy":                  joins("proxy.istio.io/config", "proxyMetadata: {A: b}"),
	"a volume of the mesh's proxy":                         joins("sidecar.istio.io/userVolume", `{"a":{"secret":{"secretName":"theirs"}}}`),
	"another template than the mesh's":                     joins("inject.istio.io/templates", "gateway"),
	"a line of its own in the mesh's template":             joins("sidecar.istio.io/logLevel", "info\n  securityContext: {privileged: true}"),
	"out of the mesh by its mode":                          joins("sidecar.istio.io/interceptionMode", "NONE"),
	"out of the mesh by a port of its proxy":               joins("config.linkerd.io/control-port", "8080"),
	"an image in place of Linkerd's proxy":                 joins("config.linkerd.io/proxy-image", "registry.invalid/a"),
	"a container patched into Vault's agent":               joins("vault.hashicorp.com/agent-json-patch", `[{"op":"replace","path":"/image","value":"registry.invalid/a"}]`),
	"a Secret by Vault's agent":                            joins("vault.hashicorp.com/agent-extra-secret", "theirs"),
	"a command in a template of Vault's agent":             joins("vault.hashicorp.com/agent-inject-template-a", `{{ plugin "sh" "-c" "id" }}`),
	"an image in place of Dapr's sidecar":                  joins("dapr.io/sidecar-image", "registry.invalid/a"),
	"a Secret by Dapr's sidecar":                           joins("dapr.io/env-from-secret", "A=theirs:a"),
	"a volume of Consul's sidecar":                         joins("consul.hashicorp.com/consul-sidecar-user-volume", `[{"name":"a","secret":{"secretName":"theirs"}}]`),
	"arguments of Consul's proxy":                          joins("consul.hashicorp.com/envoy-extra-args", "--log-path /dev/stdout"),
	"an image with a tracer's library":                     joins("admission.datadoghq.com/java-lib.custom-image", "registry.invalid/a"),
	"files of the node by an agent of logs":                joins("ad.datadoghq.com/app.logs", `[{"type":"file","path":"/var/log/pods/*"}]`),
	"instrumentation of another namespace":                 joins("instrumentation.opentelemetry.io/inject-java", "VICTIM/java"),
	"another control plane by a label":                     labels("istio.io/rev", "none"),
	"the gateway of a network by a label":                  labels("topology.istio.io/network", "theirs"),
	"a folder of the node by a label":                      labels("admission.datadoghq.com/config.mode", "socket"),
	"pods of others do not come to any node":               scheduled(`affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/os, namespaces: [VICTIM], labelSelector: {}}]}}`, "crossNamespaceAffinity", keepsAway),
	"pods of all do not come to any node, by podTemplate":  scheduled(`podTemplate: {spec: {affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/os, namespaceSelector: {}, labelSelector: {}}]}}}}`, "crossNamespaceAffinity", keepsAway),
	"pods of others do not come to any node, by a default": byDefault(`affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/os, namespaces: [VICTIM], labelSelector: {}}]}}`, "crossNamespaceAffinity", keepsAway),
	"pods that are always beside another's":                scheduled(`affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, namespaces: [VICTIM], labelSelector: {}}]}}`, "crossNamespaceAffinity", func(p *corev1.PodSpec) bool { return p.Affinity.PodAffinity != nil }),
	"a runtime that gives devices":                         scheduled(`podTemplate: {spec: {runtimeClassName: nvidia}}`, "runtimeClasses", func(p *corev1.PodSpec) bool { return p.RuntimeClassName != nil }),
	"another's queue by its scheduler":                     scheduled(`podTemplate: {spec: {schedulerName: batch}}`, "schedulers", func(p *corev1.PodSpec) bool { return p.SchedulerName == "batch" }),
	"the users of the node":                                scheduled(`podTemplate: {spec: {hostUsers: true}}`, "hostUsers", func(p *corev1.PodSpec) bool { return p.HostUsers != nil }),
	"pods that stay for 68 years":                          scheduled(`terminationGracePeriodSeconds: 2147483647`, "maxTerminationSeconds", stays),
	"pods that stay for 68 years by a default":             byDefault(`terminationGracePeriodSeconds: 2147483647`, "maxTerminationSeconds", stays),
	"pods that sleep for 68 years":                         scheduled(`{terminationGracePeriodSeconds: 2147483647, lifecycle: {preStop: {sleep: {seconds: 2147483646}}}}`, "maxTerminationSeconds is 3600", stays),
	"a volume of others by a selector":                     scheduled(volumeOf(`ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteMany], selector: {matchLabels: {app: archive}}, resources: {requests: {storage: 1Mi}}}}}`), "staticVolumes", hasVolume(func(v corev1.Volume) bool { return v.Ephemeral != nil })),
	"a volume of others by no class, ephemeral":            scheduled(volumeOf(`ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteMany], storageClassName: "", resources: {requests: {storage: 1Mi}}}}}`), "staticVolumes", hasVolume(func(v corev1.Volume) bool { return v.Ephemeral != nil })),
	"a volume of others by no class":                       policed(`persistence: {size: 1Mi, mountPath: /data, storageClassName: ""}`, "staticVolumes", is("app", func(c *corev1.PersistentVolumeClaim) bool { return *c.Spec.StorageClassName == "" })),
	"everything out of a closed network":                   opens(`{networkPolicy: {enabled: true, egress: [{}]}}`),
	"everything into a closed network":                     opens(`{ports: [{port: 80}], networkPolicy: {enabled: true, from: [{namespaceSelector: {}}]}}`),
	"the addresses out of a closed network":                opens(`{networkPolicy: {enabled: true, egress: [{to: [{ipBlock: {cidr: 169.254.169.254/32}}]}]}}`),
	"a budget that rounds up to all pods":                  policed(`{size: 3, image: registry.invalid/a, podDisruptionBudget: {enabled: true, minAvailable: 99%}}`, "blockingBudgets", is("app", anything[*policyv1.PodDisruptionBudget])),

	"a budget by the most pods that there may be":          policed(`{size: 2, resources: {requests: {cpu: 1m}}, autoscaling: {minReplicas: 2, maxReplicas: 100, targetCPUUtilizationPercentage: 50}, podDisruptionBudget: {enabled: true, minAvailable: 99}}`, "blockingBudgets", is("app", anything[*policyv1.PodDisruptionBudget])),
	"a node that may not go":                               joins("cluster-autoscaler.kubernetes.io/safe-to-evict", "false"),
	"a middleware of another namespace":                    annotates("traefik.ingress.kubernetes.io/router.middlewares", "VICTIM-add-api-token@kubernetescrd"),
	"a middleware of another namespace, beside its own":    annotates("traefik.ingress.kubernetes.io/router.middlewares", "NAMESPACE-a@kubernetescrd,VICTIM-add-api-token@kubernetescrd"),
	"a middleware of the platform's file":                  annotates("traefik.ingress.kubernetes.io/router.middlewares", "admin@file"),
	"a transport of another namespace":                     allocates("traefik.ingress.kubernetes.io/service.serverstransport", "VICTIM-mtls@kubernetescrd"),
	"another's host by a backtick in a path":               matches(`/x\u0060)||Host(\u0060shop.VICTIM.example.com`, "Prefix"),
	"another's host by a backtick in an exact path":        matches(`/x\u0060)||Host(\u0060shop.VICTIM.example.com`, "Exact"),
	"another's host by a backtick in an expression":        matches(`/x\u0060)||Host(\u0060shop.VICTIM.example.com`, "ImplementationSpecific"),
	"a Prefix that ends its quotes":                        matches(`/a\"{};\u0027#`, "Prefix"),
	"another's host by a backtick in a route's expression": routes(`pathType: RegularExpression, path: "/x\u0060)||Host(\u0060shop.VICTIM.example.com"`),
	"another's host by a backtick in a header":             routes(`path: /, headers: {x: "a\u0060)||Host(\u0060shop.VICTIM.example.com"}`),
	"a volume of others by its name":                       permitted(createsClaims, scheduled(volumeOf(`ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteMany], volumeName: archive, resources: {requests: {storage: 1Mi}}}}}`), "staticVolumes", hasVolume(func(v corev1.Volume) bool { return v.Ephemeral != nil }))),

	"a Job's network of another namespace": ofJob(`podAnnotations: {k8s.v1.cni.cncf.io/networks: VICTIM/internal}`, "annotation k8s.v1.cni.cncf.io/networks", func(p *corev1.PodTemplateSpec) bool { return p.Annotations["k8s.v1.cni.cncf.io/networks"] != "" }),
	"a Job out of the mesh by a label":     ofJob(`podLabels: {sidecar.istio.io/inject: "false"}`, "label sidecar.istio.io/inject", func(p *corev1.PodTemplateSpec) bool { return p.Labels["sidecar.istio.io/inject"] != "" }),
	"a Job that tolerates every taint":     ofJob(`tolerations: [{operator: Exists}]`, "every taint", func(p *corev1.PodTemplateSpec) bool { return tolerates("")(&p.Spec) }),
	"a Job's volume of a driver": ofJob(`volumes: [{name: a, csi: {driver: d.example.com}}]`, "volumeTypes", func(p *corev1.PodTemplateSpec) bool {
		return hasVolume(func(v corev1.Volume) bool { return v.CSI != nil })(&p.Spec)
	}),
	"a Job's volume of others by a selector": ofJob(`volumes: [{name: a, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteMany], selector: {matchLabels: {app: archive}}, resources: {requests: {storage: 1Mi}}}}}}]`, "staticVolumes", func(p *corev1.PodTemplateSpec) bool {
		return hasVolume(func(v corev1.Volume) bool { return v.Ephemeral != nil })(&p.Spec)
	}),

	"a claim of 9000Ti": policed(`persistence: {size: 9000Ti, mountPath: /data}`, "maxStorage", is("app", func(c *corev1.PersistentVolumeClaim) bool {
		return c.Spec.Resources.Requests.Storage().Cmp(resource.MustParse("9000Ti")) == 0
	})),
	"a claim of 9000Ti for each replica": policed(`persistence: {perReplica: true, size: 9000Ti, mountPath: /data}`, "maxStorage", is("app", func(s *appsv1.StatefulSet) bool {
		return len(s.Spec.VolumeClaimTemplates) == 1
	})),
	"a further claim of 9000Ti": policed(`claims: [{name: a, size: 9000Ti}]`, "maxStorage", is("app-a", func(c *corev1.PersistentVolumeClaim) bool {
		return c.Spec.Resources.Requests.Storage().Cmp(resource.MustParse("9000Ti")) == 0
	})),
	"a further claim of 9000Ti for each replica": policed(`{statefulSet: {}, claims: [{name: a, perReplica: true, size: 9000Ti}]}`, "maxStorage", is("app", func(s *appsv1.StatefulSet) bool {
		return len(s.Spec.VolumeClaimTemplates) == 1
	})),
	"a further volume of others by no class": policed(`claims: [{name: a, size: 1Mi, storageClassName: ""}]`, "staticVolumes", is("app-a", func(c *corev1.PersistentVolumeClaim) bool { return *c.Spec.StorageClassName == "" })),
	"an autoscaler up to 3000": policed(`{resources: {requests: {cpu: 1m}}, autoscaling: {maxReplicas: 3000, targetCPUUtilizationPercentage: 50}}`, "maxReplicas", is("app", func(h *autoscalingv2.HorizontalPodAutoscaler) bool {
		return h.Spec.MaxReplicas == 3000
	})),
	"a budget that no pod may go":      policed(`podDisruptionBudget: {enabled: true, maxUnavailable: 0}`, "blockingBudgets", is("app", anything[*policyv1.PodDisruptionBudget])),
	"a budget that all pods must stay": policed(`podDisruptionBudget: {enabled: true, minAvailable: 100%}`, "blockingBudgets", is("app", anything[*policyv1.PodDisruptionBudget])),
	"3000 replicas":                    sized(applies(`size: 3000`)),
	"3000 replicas by kubectl scale": sized(func(s *scene) error {
		if err := applies(`{}`)(s); err != nil {
			return err
		}
		return s.tenant.SubResource("scale").Patch(s.Context(), s.app(), client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"replicas":3000}}`)))
	}),
})

// policed is a vector that the policy refuses, by a rule.
func policed(spec, rule string, harm func(*scene) error) vector {
	return vector{
		does: applies(spec), harm: harm,
		guard: "the platform's policy, on rendered objects", shared: true, reason: v1.ReasonPolicyViolation, words: []string{"the platform's policy", rule},
	}
}

// scheduled is one about pods.
func scheduled(spec, rule string, harm func(*corev1.PodSpec) bool) vector {
	return policed(spec, rule, pods(harm))
}

// annotates is one about an annotation of an Ingress.
func annotates(key, value string) vector {
	spec := fmt.Sprintf(`{ports: [{port: 80}], ingress: {className: nginx, annotations: {%s: %q}, hosts: [{host: NAMESPACE.example.com}]}}`, key, value)
	return policed(spec, key, is("app", func(i *networkingv1.Ingress) bool { return i.Annotations[key] != "" }))
}

// allocates is one about an annotation of a Service.
func allocates(key, value string) vector {
	spec := fmt.Sprintf(`{ports: [{port: 80}], service: {type: LoadBalancer, annotations: {%s: %q}}}`, key, value)
	return policed(spec, key, is("app", func(s *corev1.Service) bool { return s.Annotations[key] != "" }))
}

// createsClaims are the rights of a tenant who may create claims.
var createsClaims = []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"persistentvolumeclaims"}, Verbs: []string{"create"}}}

// permitted is a vector of a tenant with more rights.
func permitted(may []rbacv1.PolicyRule, v vector) vector {
	v.may = may
	return v
}

// matches is one about a path of an Ingress, as text in double quotes.
func matches(path, of string) vector {
	spec := fmt.Sprintf(`{ports: [{port: 80}], ingress: {className: nginx, hosts: [{host: NAMESPACE.example.com, paths: [{path: "%s", pathType: %s}]}]}}`, path, of)
	return policed(spec, "paths allows *=", is("app", anything[*networkingv1.Ingress]))
}

// routes is one about what an HTTPRoute matches by.
func routes(match string) vector {
	return permitted(writesRoutes, policed(`{ports: [{port: 80}], route: {parentRefs: [{name: a}], hostnames: [app.NAMESPACE.example.com], rules: [{matches: [{`+
		match+`}]}]}}`, "matches allows *=", routed))
}

// joins is one about an annotation of pods.
func joins(key, value string) vector {
	spec := fmt.Sprintf(`podAnnotations: {%s: %q}`, key, value)
	return policed(spec, key, is("app", func(d *appsv1.Deployment) bool { return d.Spec.Template.Annotations[key] != "" }))
}

// labels is one about a label of pods.
func labels(key, value string) vector {
	spec := fmt.Sprintf(`podLabels: {%s: %q}`, key, value)
	return policed(spec, "label "+key, is("app", func(d *appsv1.Deployment) bool { return d.Spec.Template.Labels[key] != "" }))
}

// opens is one about a NetworkPolicy, in a namespace in which none may be open.
func opens(spec string) vector {
	v := policed(spec, "openNetworkPolicies", is("app", anything[*networkingv1.NetworkPolicy]))
	v.label = closedNetwork
	return v
}

// byDefault is one about pods, by the ConfigMap of defaults.
func byDefault(defaults, rule string, harm func(*corev1.PodSpec) bool) vector {
	v := scheduled(`{}`, rule, harm)
	v.reason, v.words = v1.ReasonDefaultsInvalid, []string{rule}
	v.prepare = func(s *scene) {
		s.make(s.namespace, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "appservice-defaults"}, Data: map[string]string{"appservice.yaml": s.words(defaults)}})
	}
	return v
}

// ofJob is one about an AppJob, which runs by a schedule that never comes.
func ofJob(spec, rule string, harm func(*corev1.PodTemplateSpec) bool) vector {
	v := policed("", rule, is("app", func(c *batchv1.CronJob) bool { return harm(&c.Spec.JobTemplate.Spec.Template) }))
	v.job, v.may = true, []rbacv1.PolicyRule{{APIGroups: []string{v1.GroupVersion.Group}, Resources: []string{"appjobs"}, Verbs: []string{"*"}}}
	v.does = func(s *scene) error {
		job := s.job(spec)
		job.Object["spec"].(map[string]any)["schedule"] = "0 0 30 2 *"
		return s.tenant.Create(s.Context(), job)
	}
	return v
}

func keepsAway(p *corev1.PodSpec) bool { return p.Affinity != nil && p.Affinity.PodAntiAffinity != nil }

func stays(p *corev1.PodSpec) bool { return *p.TerminationGracePeriodSeconds == 2147483647 }

// sized is one about a number of replicas. A quota ensures that none of them is created.
func sized(does func(*scene) error) vector {
	v := policed("", "maxReplicas", is("app", func(d *appsv1.Deployment) bool { return *d.Spec.Replicas == 3000 }))
	v.does = does
	v.prepare = exists(&corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: "no-pods"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("0")}},
	})
	return v
}

func volumeOf(source string) string {
	return `podTemplate: {spec: {volumes: [{name: a, ` + source + `}]}}`
}

func hasVolume(holds func(corev1.Volume) bool) func(*corev1.PodSpec) bool {
	return func(p *corev1.PodSpec) bool { return slices.ContainsFunc(p.Volumes, holds) }
}

func tolerates(key string) func(*corev1.PodSpec) bool {
	return func(p *corev1.PodSpec) bool {
		return slices.ContainsFunc(p.Tolerations, func(each corev1.Toleration) bool { return each.Key == key })
	}
}
