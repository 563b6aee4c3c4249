//go:build cluster

package security

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
)

// What the platform's policy forbids by default: annotations that other controllers obey, what keeps nodes busy, and volumes of unchecked kinds.
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
	"an identity of AWS":               identifies("eks.amazonaws.com/role-arn", "arn:aws:iam::111122223333:role/admin"),
	"an identity of Google":            identifies("iam.gke.io/gcp-service-account", "admin@project.iam.gserviceaccount.com"),
	"an identity of Azure":             identifies("azure.workload.identity/client-id", "00000000-0000-0000-0000-000000000000"),
	"a network of another namespace":   joins("k8s.v1.cni.cncf.io/networks", "VICTIM/internal"),
	"devices of the container runtime": joins("io.kubernetes.cri-o.Devices", "/dev/kmsg"),
	"an annotation of a volume's claim": scheduled(volumeOf(`ephemeral: {volumeClaimTemplate: {metadata: {annotations: {volume.kubernetes.io/storage-provisioner: d.example.com}}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Mi}}}}}`), "annotation volume.kubernetes.io/storage-provisioner", hasVolume(func(v corev1.Volume) bool {
		return v.Ephemeral != nil && len(v.Ephemeral.VolumeClaimTemplate.Annotations) > 0
	})),
	"a class that evicts all others":      scheduled(`podTemplate: {spec: {priorityClassName: system-node-critical}}`, "priorityClasses", func(p *corev1.PodSpec) bool { return p.PriorityClassName == "system-node-critical" }),
	"the control plane's taint":           scheduled(`tolerations: [{key: node-role.kubernetes.io/control-plane, operator: Exists}]`, "tolerations", tolerates("node-role.kubernetes.io/control-plane")),
	"every taint":                         scheduled(`tolerations: [{operator: Exists}]`, "every taint", tolerates("")),
	"every taint by podTemplate":          scheduled(`podTemplate: {spec: {tolerations: [{operator: Exists}]}}`, "every taint", tolerates("")),
	"a node by its name, by affinity":     scheduled(`affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [node-1]}]}]}}}`, "nodeNames", func(p *corev1.PodSpec) bool { return p.Affinity.NodeAffinity != nil }),
	"a node by its name, by selector":     scheduled(`nodeSelector: {kubernetes.io/hostname: node-1}`, "nodeNames", func(p *corev1.PodSpec) bool { return p.NodeSelector[corev1.LabelHostname] != "" }),
	"a node by its name, by podTemplate":  scheduled(`podTemplate: {spec: {nodeName: node-1}}`, "nodeNames", func(p *corev1.PodSpec) bool { return p.NodeName != "" }),
	"a volume of a driver":                scheduled(volumeOf(`csi: {driver: d.example.com}`), "volumeTypes", hasVolume(func(v corev1.Volume) bool { return v.CSI != nil })),
	"a volume of NFS":                     scheduled(volumeOf(`nfs: {server: 10.0.0.1, path: /}`), "volumeTypes", hasVolume(func(v corev1.Volume) bool { return v.NFS != nil })),
	"a volume of iSCSI":                   scheduled(volumeOf(`iscsi: {targetPortal: "10.0.0.1:3260", iqn: "iqn.2001-04.com.example:a", lun: 0}`), "volumeTypes", hasVolume(func(v corev1.Volume) bool { return v.ISCSI != nil })),
	"a volume of a repository":            scheduled(volumeOf(`gitRepo: {repository: "https://example.com/a.git"}`), "volumeTypes", hasVolume(func(v corev1.Volume) bool { return v.GitRepo != nil })),
	"a flex volume":                       scheduled(volumeOf(`flexVolume: {driver: example.com/d}`), "volumeTypes", hasVolume(func(v corev1.Volume) bool { return v.FlexVolume != nil })),
	"a scratch volume as large as a disk": scheduled(`volumes: [{name: a, emptyDir: {sizeLimit: 9000Ti}}]`, "maxStorage", hasVolume(func(v corev1.Volume) bool { return v.EmptyDir != nil && v.EmptyDir.SizeLimit != nil })),

	"a claim of 9000Ti": policed(`persistence: {size: 9000Ti, mountPath: /data}`, "maxStorage", is("app", func(c *corev1.PersistentVolumeClaim) bool {
		return c.Spec.Resources.Requests.Storage().Cmp(resource.MustParse("9000Ti")) == 0
	})),
	"a claim of 9000Ti for each replica": policed(`persistence: {perReplica: true, size: 9000Ti, mountPath: /data}`, "maxStorage", is("app", func(s *appsv1.StatefulSet) bool {
		return len(s.Spec.VolumeClaimTemplates) == 1
	})),
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
		guard: "the platform's policy, on rendered objects", reason: v1.ReasonPolicyViolation, words: []string{"the platform's policy", rule},
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

// identifies is one about an annotation of an account of the tenant's own.
func identifies(key, value string) vector {
	spec := fmt.Sprintf(`serviceAccount: {create: true, annotations: {%s: %q}}`, key, value)
	return with(policed(spec, key, is("app", func(a *corev1.ServiceAccount) bool { return a.Annotations[key] != "" })), makesAccounts)
}

// joins is one about an annotation of pods.
func joins(key, value string) vector {
	spec := fmt.Sprintf(`podAnnotations: {%s: %q}`, key, value)
	return policed(spec, key, is("app", func(d *appsv1.Deployment) bool { return d.Spec.Template.Annotations[key] != "" }))
}

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
