package policy

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

// object is one from YAML, as templates render it.
func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	data, err := yaml.YAMLToJSONStrict([]byte(text))
	require.NoError(t, err)
	out := &unstructured.Unstructured{}
	require.NoError(t, utiljson.Unmarshal(data, &out.Object))
	return out
}

// The objects that cases are made of: what follows is at its place.
const (
	deployment  = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: demo}\nspec: "
	rollout     = "apiVersion: argoproj.io/v1alpha1\nkind: Rollout\nmetadata: {name: web, namespace: demo}\nspec: "
	service     = "apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: demo}\nspec: "
	ingress     = "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: web, namespace: demo}\nspec: "
	route       = "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: web, namespace: demo}\nspec: "
	listenerSet = "apiVersion: gateway.networking.k8s.io/v1\nkind: ListenerSet\nmetadata: {name: web, namespace: demo}\nspec: "
	budget      = "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: web, namespace: demo}\nspec: "
	scaler      = "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: web, namespace: demo}\nspec: "
	scaled      = "apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: web, namespace: demo}\nspec: "
	claim       = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: web, namespace: demo}\nspec: "
	job         = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: web, namespace: demo}\nspec: "
	cronJob     = "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: web, namespace: demo}\nspec: "
	stateful    = "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: web, namespace: demo}\nspec: "
)

// pods is the Deployment of pods.
func pods(spec string) string { return deployment + "{template: {spec: " + spec + "}}" }

// ofRollout is the same with pods of a kind that is not built in.
func (r rule) ofRollout() rule {
	r.object = strings.Replace(r.object, deployment, rollout, 1)
	if !strings.Contains(r.object, "containers:") {
		r.object = strings.Replace(r.object, pods("{")[len(deployment):len(pods("{"))-2], "{template: {spec: {containers: [{name: app, image: x}], ", 1)
	}
	r.want = strings.Replace(r.want, "Deployment", "Rollout", 1)
	return r
}

// annotatedOf is an object of a kind with an annotation, of a value in double quotes.
func annotatedOf(kind, key, value string) string {
	return "apiVersion: v1\nkind: " + kind + "\nmetadata: {name: web, namespace: demo, annotations: {\"" + key + "\": \"" + value + "\"}}"
}

// labeledPods is a Deployment of pods with a label.
func labeledPods(key, value string) string {
	return deployment + "{template: {metadata: {labels: {\"" + key + "\": \"" + value + "\"}}}}"
}

// annotated is an object of a kind with an annotation.
func annotated(kind, key, value string) string {
	return "apiVersion: " + map[string]string{"Ingress": "networking.k8s.io/v1", "HTTPRoute": "gateway.networking.k8s.io/v1"}[kind] +
		"\nkind: " + kind + "\nmetadata: {name: web, namespace: demo, annotations: {\"" + key + "\": \"" + value + "\"}}\nspec: {}"
}

// rule is one that is refused by default, and allowed by a file.
type rule struct {
	object, file string
	// want is in the message; empty if it is allowed by default, and the file refuses it.
	want string
}

func (r rule) check(t *testing.T) {
	t.Helper()
	refusing, allowing := Default().For("demo", nil), rulesOf(t, r.file, "demo", nil)
	if r.want == "" {
		refusing, allowing = allowing, refusing
	}
	err := refusing.Check([]*unstructured.Unstructured{object(t, r.object)})
	var refused *Error
	if !errors.As(err, &refused) || len(refused.Violations) != 1 || !strings.Contains(err.Error(), r.want) {
		t.Fatalf("got error %v, want one violation with %q", err, r.want)
	}
	line := err.Error()[strings.LastIndex(err.Error(), "- {"):]
	beneath := ""
	if r.want == "" {
		beneath = r.file + "\n"
	}
	for name, rules := range map[string]Rules{
		"the file": allowing, "open": rulesOf(t, "builtIn: open", "demo", nil), "the line of the message": rulesOf(t, beneath+"namespaces:\n"+line, "demo", nil),
	} {
		if err := rules.Check([]*unstructured.Unstructured{object(t, r.object)}); err != nil {
			t.Errorf("%s does not allow it: %v", name, err)
		}
	}
}

func TestWhatIsRefusedByDefaultCanBeAllowed(t *testing.T) {
	cases := map[string]rule{
		"a Service of another name":         {service + "{type: ExternalName, externalName: a.example.org}", `default: {serviceTypes: ["+", ExternalName]}`, `Service "web": spec.type ExternalName: serviceTypes allows ClusterIP, NodePort, LoadBalancer (built-in policy shared)`},
		"an external address":               {service + "{externalIPs: [192.0.2.7]}", "default: {externalIPs: [192.0.2.0/24]}", `spec.externalIPs[0] 192.0.2.7: externalIPs allows nothing`},
		"a load balancer's address":         {service + "{type: LoadBalancer, loadBalancerIP: 192.0.2.7}", "default: {externalIPs: [192.0.2.7]}", "spec.loadBalancerIP 192.0.2.7"},
		"an address of IPv6":                {service + "{externalIPs: [\"2001:db8::7\"]}", "default: {externalIPs: [\"2001:db8::/32\"]}", "2001:db8::7"},
		"a system class of priority":        {pods("{priorityClassName: system-node-critical}"), "default: {priorityClasses: [\"+\", system-node-critical]}", `Deployment "web": priorityClassName system-node-critical: priorityClasses allows *, !system-* (built-in policy shared)`},
		"the control plane's taint":         {pods("{tolerations: [{key: node-role.kubernetes.io/control-plane, operator: Exists}]}"), "default: {tolerations: [\"+\", node-role.kubernetes.io/control-plane]}", "tolerations[0] node-role.kubernetes.io/control-plane"},
		"every taint":                       {pods("{tolerations: [{operator: Exists}]}"), "default: {tolerations: [\"+\", \"\"]}", "tolerations[0] of every taint"},
		"a taint of a node in trouble":      {pods("{tolerations: [{key: node.kubernetes.io/disk-pressure}]}"), "default: {tolerations: [\"*/*\"]}", "node.kubernetes.io/disk-pressure"},
		"a node":                            {pods("{nodeName: node-1}"), "default: {nodeNames: true}", "nodeName node-1: nodeNames is false"},
		"3000 replicas":                     {deployment + "{replicas: 3000}", "default: {maxReplicas: 3000}", `Deployment "web": spec.replicas 3000: maxReplicas is 100 (built-in policy shared)`},
		"3000 replicas of a set":            {stateful + "{replicas: 3000}", "default: {maxReplicas: 3000}", `StatefulSet "web": spec.replicas 3000`},
		"an autoscaler to 3000":             {scaler + "{maxReplicas: 3000}", "default: {maxReplicas: 3000}", "spec.maxReplicas 3000"},
		"KEDA to 3000":                      {scaled + "{maxReplicaCount: 3000}", "default: {maxReplicas: 3000}", "spec.maxReplicaCount 3000"},
		"KEDA's fallback of 3000":           {scaled + "{maxReplicaCount: 1, fallback: {replicas: 3000}}", "default: {maxReplicas: 3000}", "spec.fallback.replicas 3000"},
		"3000 pods of a Job":                {job + "{parallelism: 3000}", "default: {maxReplicas: 3000}", "spec.parallelism 3000"},
		"3000 pods of a CronJob":            {cronJob + "{jobTemplate: {spec: {parallelism: 3000}}}", "default: {maxReplicas: 3000}", "spec.jobTemplate.spec.parallelism 3000"},
		"a claim of 9000Ti":                 {claim + "{resources: {requests: {storage: 9000Ti}}}", "default: {maxStorage: 9000Ti}", `PersistentVolumeClaim "web": spec.resources.requests.storage 9000Ti: maxStorage is 1Ti`},
		"a template of 9000Ti":              {stateful + "{volumeClaimTemplates: [{metadata: {name: data}, spec: {resources: {requests: {storage: 9000Ti}}}}]}", "default: {maxStorage: 9000Ti}", "spec.volumeClaimTemplates[0].spec.resources.requests.storage 9000Ti"},
		"an emptyDir of 9000Ti":             {pods("{volumes: [{name: a, emptyDir: {sizeLimit: 9000Ti}}]}"), "default: {maxStorage: 9000Ti}", "volumes[a].emptyDir.sizeLimit 9000Ti"},
		"an ephemeral one of 9000Ti":        {pods("{volumes: [{name: a, ephemeral: {volumeClaimTemplate: {spec: {resources: {requests: {storage: 9000Ti}}}}}}]}"), "default: {maxStorage: 9000Ti}", "volumes[a].ephemeral"},
		"an annotation of an ephemeral one": {pods("{volumes: [{name: a, ephemeral: {volumeClaimTemplate: {metadata: {annotations: {volume.kubernetes.io/storage-provisioner: d}}, spec: {}}}}]}"), "default: {annotations: {PersistentVolumeClaim: [volume.kubernetes.io/storage-provisioner]}}", "annotation volume.kubernetes.io/storage-provisioner"},
		"a budget of none":                  {budget + "{maxUnavailable: 0}", "default: {blockingBudgets: true}", "spec.maxUnavailable 0: blockingBudgets is false"},
		"a budget of none of percent":       {budget + "{maxUnavailable: 0%}", "default: {blockingBudgets: true}", "spec.maxUnavailable 0"},
		"a budget that all must stay":       {budget + "{minAvailable: 100%}", "default: {blockingBudgets: true}", "spec.minAvailable 100%"},
		"a volume of a driver":              {pods("{volumes: [{name: a, csi: {driver: d}}]}"), "default: {volumeTypes: [\"+\", csi]}", "volumes[a] csi: volumeTypes allows"},
		"a volume of NFS":                   {pods("{volumes: [{name: a, nfs: {server: s, path: /}}]}"), "default: {volumeTypes: [nfs]}", "volumes[a] nfs"},
		"a volume of iSCSI":                 {pods("{volumes: [{name: a, iscsi: {targetPortal: p, iqn: i, lun: 0}}]}"), "default: {volumeTypes: [iscsi]}", "volumes[a] iscsi"},
		"a volume of a repository":          {pods("{volumes: [{name: a, gitRepo: {repository: r}}]}"), "default: {volumeTypes: [gitRepo]}", "volumes[a] gitRepo"},
		"a flex volume":                     {pods("{volumes: [{name: a, flexVolume: {driver: d}}]}"), "default: {volumeTypes: [flexVolume]}", "volumes[a] flexVolume"},
		"a fifth of a minute too long":      {pods("{terminationGracePeriodSeconds: 3612}"), "default: {maxTerminationSeconds: 3612}", `Deployment "web": terminationGracePeriodSeconds 3612: maxTerminationSeconds is 3600 (built-in policy shared)`},
		"a long sleep before the end":       {pods("{containers: [{name: app, image: a, lifecycle: {preStop: {sleep: {seconds: 2147483646}}}}]}"), "default: {maxTerminationSeconds: 2147483646}", "containers[app].lifecycle.preStop.sleep.seconds 2147483646"},
		"a long end by a probe":             {pods("{containers: [{name: app, image: a, livenessProbe: {terminationGracePeriodSeconds: 3601}}]}"), "default: {maxTerminationSeconds: 3601}", "containers[app].livenessProbe.terminationGracePeriodSeconds 3601"},
		"a long end of a CronJob":           {cronJob + "{jobTemplate: {spec: {template: {spec: {terminationGracePeriodSeconds: 3601}}}}}", "default: {maxTerminationSeconds: 3601}", `CronJob "web": terminationGracePeriodSeconds 3601`},
		"a class of runtimes":               {pods("{runtimeClassName: nvidia}"), "default: {runtimeClasses: [nvidia]}", "runtimeClassName nvidia: runtimeClasses allows gvisor, kata, kata-* (built-in policy shared)"},
		"another scheduler":                 {pods("{schedulerName: batch}"), "default: {schedulers: [\"+\", batch]}", "schedulerName batch: schedulers allows default-scheduler"},
		"the users of the host":             {pods("{hostUsers: true}"), "default: {hostUsers: true}", "hostUsers true: hostUsers is false"},
		"pods kept from other namespaces'":  {pods("{affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/os, namespaces: [demo, shop], labelSelector: {}}]}}}"), "default: {crossNamespaceAffinity: true}", "affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].namespaces shop: crossNamespaceAffinity is false"},
		"pods kept from all namespaces'":    {pods("{affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/os, namespaceSelector: {}}]}}}"), "default: {crossNamespaceAffinity: true}", "podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].namespaceSelector"},
		"pods beside other namespaces'":     {pods("{affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, namespaces: [shop]}]}}}"), "default: {crossNamespaceAffinity: true}", "affinity.podAffinity.required"},
		"a claim by a selector":             {claim + "{selector: {matchLabels: {app: archive}}}", "default: {staticVolumes: true}", "spec.selector: staticVolumes is false"},
		"a claim of no class":               {claim + "{storageClassName: \"\"}", "default: {staticVolumes: true}", `spec.storageClassName "": staticVolumes is false`},
		"a template of no class":            {stateful + "{volumeClaimTemplates: [{metadata: {name: data}, spec: {storageClassName: \"\"}}]}", "default: {staticVolumes: true}", "spec.volumeClaimTemplates[0].spec.storageClassName"},
		"an ephemeral one by a selector":    {pods("{volumes: [{name: a, ephemeral: {volumeClaimTemplate: {spec: {selector: {}}}}}]}"), "default: {staticVolumes: true}", "volumes[a].ephemeral.volumeClaimTemplate.spec.selector"},
		"a path with a brace":               {ingress + "{ingressClassName: nginx, rules: [{http: {paths: [{path: '/a{}', pathType: ImplementationSpecific}]}}]}", "default: {paths: [ImplementationSpecific]}", "spec.rules[0].http.paths[0] ImplementationSpecific /a{}: paths allows"},
		"a name in DNS":                     {annotatedOf("Service", "external-dns.alpha.kubernetes.io/hostname", "a.example.com"), "namespaces: [{names: [demo], hosts: [\"*.example.com\"]}]", "annotation external-dns.alpha.kubernetes.io/hostname a.example.com: hosts allows *, but annotations.Service only what an entry names for the namespace"},
		"a rewrite out of its quotes":       {annotatedOf("Ingress", "nginx.ingress.kubernetes.io/rewrite-target", `/$1\" break; } location /pwn { return 200 \"x`), "default: {annotations: {Ingress: [nginx.ingress.kubernetes.io/rewrite-target]}}", "annotation nginx.ingress.kubernetes.io/rewrite-target: annotations.Ingress has other values: nginx.ingress.kubernetes.io/rewrite-target=/"},
		"a rewrite to elsewhere":            {annotatedOf("Ingress", "nginx.ingress.kubernetes.io/rewrite-target", "https://elsewhere.example.org"), "default: {annotations: {Ingress: [\"nginx.ingress.kubernetes.io/*\"]}}", "has other values"},
		"a cookie's path that stops reload": {annotatedOf("Ingress", "nginx.ingress.kubernetes.io/proxy-cookie-path", "/a / /"), "default: {annotations: {Ingress: [\"nginx.ingress.kubernetes.io/*\"]}}", "has other values"},
		"a line of its own in a size":       {annotatedOf("Ingress", "nginx.ingress.kubernetes.io/proxy-body-size", `1m;\n}`), "default: {annotations: {Ingress: [\"nginx.ingress.kubernetes.io/*\"]}}", "has other values"},
		"a label out of the mesh":           {labeledPods("sidecar.istio.io/inject", "false"), "default: {labels: {Pod: [sidecar.istio.io/inject]}}", "label sidecar.istio.io/inject: labels.* has other values"},
		"a label out of ambient mesh":       {labeledPods("istio.io/dataplane-mode", "none"), "default: {labels: {Pod: [istio.io/dataplane-mode]}}", "label istio.io/dataplane-mode"},
		"a label of a priority of a queue":  {labeledPods("kueue.x-k8s.io/priority-class", "high"), "default: {labels: {Pod: [kueue.x-k8s.io/*]}}", "label kueue.x-k8s.io/priority-class: labels.* allows of these queue-name (built-in policy shared)"},
		"a label that keeps from backups":   {labeledPods("velero.io/exclude-from-backup", "true"), "default: {labels: {\"*\": [\"+\", velero.io/*]}}", "label velero.io/exclude-from-backup"},
		"a dashboard for everybody":         {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web, namespace: demo, labels: {grafana_dashboard: \"1\"}}", "default: {labels: {ConfigMap: [grafana_dashboard]}}", "label grafana_dashboard: labels.*"},
		"a path of the node":                {pods("{volumes: [{name: a, hostPath: {path: /}}]}"), "default: {volumeTypes: [hostPath]}", "volumes[a] hostPath"},
	}
	for name, tc := range cases {
		t.Run(name, tc.check)
		if strings.HasPrefix(tc.object, pods("")[:len(pods(""))-2]) {
			t.Run(name+" of a Rollout", tc.ofRollout().check)
		}
	}
}

func TestWhatIsAllowedByDefaultCanBeRefused(t *testing.T) {
	cases := map[string]rule{
		"a node port":                   {object: service + "{type: NodePort, ports: [{port: 80, nodePort: 30080}]}", file: "default: {nodePorts: [30000-30079]}"},
		"a type":                        {object: service + "{type: NodePort}", file: "default: {serviceTypes: [ClusterIP]}"},
		"a class of load balancers":     {object: service + "{type: LoadBalancer, loadBalancerClass: example.com/public}", file: "default: {loadBalancerClasses: [example.com/internal]}"},
		"a port for health":             {object: service + "{type: LoadBalancer, healthCheckNodePort: 30080}", file: "default: {nodePorts: []}"},
		"a class of Ingresses":          {object: ingress + "{ingressClassName: public}", file: "default: {ingressClasses: [internal]}"},
		"an Ingress without a class":    {object: ingress + "{}", file: "default: {ingressClasses: [internal]}"},
		"a class by its annotation":     {object: annotated("Ingress", "kubernetes.io/ingress.class", "public"), file: "default: {ingressClasses: [internal, \"\"]}"},
		"a Gateway":                     {object: route + "{parentRefs: [{name: public, namespace: gateways}]}", file: "default: {gateways: [gateways/internal]}"},
		"a Gateway of added listeners":  {object: listenerSet + "{parentRef: {name: public, namespace: gateways}}", file: "default: {gateways: [gateways/internal]}"},
		"added listeners of others":     {object: route + "{parentRefs: [{kind: ListenerSet, name: public, namespace: gateways}]}", file: "default: {gateways: [gateways/internal]}"},
		"a Gateway of the namespace":    {object: route + "{parentRefs: [{name: own}]}", file: "default: {gateways: [gateways/*]}"},
		"an issuer":                     {object: annotated("Ingress", "cert-manager.io/issuer", "team"), file: "default: {issuers: [ClusterIssuer/*]}"},
		"an issuer of the cluster":      {object: annotated("Ingress", "cert-manager.io/cluster-issuer", "internal-ca"), file: "default: {issuers: [ClusterIssuer/letsencrypt]}"},
		"a certificate's issuer":        {object: "apiVersion: cert-manager.io/v1\nkind: Certificate\nmetadata: {name: web, namespace: demo}\nspec: {issuerRef: {kind: ClusterIssuer, name: internal-ca}}", file: "default: {issuers: [ClusterIssuer/letsencrypt]}"},
		"a registry":                    {object: pods("{containers: [{name: app, image: nginx}]}"), file: "default: {registries: [ghcr.io]}"},
		"a registry of an init one":     {object: pods("{initContainers: [{name: app, image: nginx}]}"), file: "default: {registries: [ghcr.io]}"},
		"a registry of a volume":        {object: pods("{volumes: [{name: a, image: {reference: nginx}}]}"), file: "default: {registries: [ghcr.io]}"},
		"an image without a digest":     {object: pods("{containers: [{name: app, image: nginx:1.29}]}"), file: "default: {requireDigests: true}"},
		"a patch of the pods":           {object: "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: demo, annotations: {app.example.com/pod-template-sets: spec.hostname}}\nspec: {template: {spec: {}}}", file: "default: {podTemplate: false}"},
		"a type of volumes":             {object: pods("{volumes: [{name: a, emptyDir: {}}]}"), file: "default: {volumeTypes: [configMap]}"},
		"what KEDA has without a limit": {object: scaled + "{}", file: "default: {maxReplicas: 99}"},
		"an annotation":                 {object: annotated("Ingress", "nginx.ingress.kubernetes.io/rewrite-target", "/"), file: "default: {annotations: {Ingress: []}}"},
		"an annotation of all kinds":    {object: annotated("HTTPRoute", "owner", "a"), file: "default: {annotations: {\"*\": []}}"},
	}
	for name, tc := range cases {
		t.Run(name, tc.check)
	}
}

func TestWhatIsHarmlessIsAllowed(t *testing.T) {
	for name, text := range map[string]string{
		"no Service's type":                service + "{}",
		"a headless Service":               service + "{clusterIP: None}",
		"another class of priority":        pods("{priorityClassName: important}"),
		"taints of people":                 pods("{tolerations: [{key: spot, operator: Exists}, {key: example.com/gpu}]}"),
		"a node that does not answer":      pods("{tolerations: [{key: node.kubernetes.io/unreachable, tolerationSeconds: 60}]}"),
		"a node by its label":              pods("{nodeSelector: {kubernetes.io/hostname: node-1}}"),
		"pods apart from their own kind":   pods("{affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, namespaces: [demo]}], preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, podAffinityTerm: {topologyKey: kubernetes.io/hostname, namespaceSelector: {}}}]}}}"),
		"an hour to end":                   pods("{terminationGracePeriodSeconds: 3600}"),
		"the scheduler by its name":        pods("{schedulerName: default-scheduler}"),
		"a runtime that isolates":          pods("{runtimeClassName: gvisor}"),
		"users of their own":               pods("{hostUsers: false}"),
		"a claim of a class":               claim + "{storageClassName: fast}",
		"a path by an expression":          ingress + "{rules: [{http: {paths: [{path: /api(/|$)(.*), pathType: ImplementationSpecific}, {path: /, pathType: Prefix}]}}]}",
		"a policy for everybody":           "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: web, namespace: demo}\nspec: {egress: [{}]}",
		"a label into the mesh":            labeledPods("sidecar.istio.io/inject", "true"),
		"a label of linkerd's":             labeledPods("linkerd.io/control-plane-ns", "linkerd"),
		"a label of a queue":               labeledPods("kueue.x-k8s.io/queue-name", "team"),
		"labels of people":                 labeledPods("example.com/team", "a"),
		"nodes by another label":           pods("{nodeSelector: {kubernetes.io/os: linux}}"),
		"pods kept apart by node":          pods("{affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname}]}}}"),
		"a budget of one":                  budget + "{maxUnavailable: 1}",
		"a budget of all":                  budget + "{maxUnavailable: 100%}",
		"a budget that some must stay":     budget + "{minAvailable: 2}",
		"a budget of half":                 budget + "{minAvailable: 50%}",
		"100 replicas":                     deployment + "{replicas: 100}",
		"a claim of 1Ti":                   claim + "{resources: {requests: {storage: 1024Gi}}}",
		"Restricted's volumes":             pods("{volumes: [{name: a, configMap: {name: a}}, {name: b, secret: {secretName: b}}, {name: c, projected: {sources: []}}, {name: d, persistentVolumeClaim: {claimName: d}}, {name: e}]}"),
		"a pod template that is not a map": deployment + "{template: []}",
	} {
		t.Run(name, func(t *testing.T) {
			assert.NoError(t, Default().For("demo", nil).Check([]*unstructured.Unstructured{object(t, text)}))
		})
	}
}

func TestImagesByTheirRegistry(t *testing.T) {
	cases := map[string]struct {
		registry string
		from     bool
	}{
		"nginx":                                  {"docker.io", true},
		"nginx:1.29":                             {"docker.io/library", true},
		"acme/shop":                              {"docker.io/acme", true},
		"acmes/shop":                             {"docker.io/acme", false},
		"ghcr.io/acme/team/shop@sha256:" + sum:   {"ghcr.io/acme", true},
		"ghcr.io.example.org/acme/shop":          {"ghcr.io", false},
		"ghcr.io/acme":                           {"ghcr.io/acme/shop", false},
		"localhost:5000/shop":                    {"localhost:5000", true},
		"localhost/shop":                         {"docker.io", false},
		"123.dkr.ecr.eu-west-1.amazonaws.com/a":  {"*.dkr.ecr.eu-west-1.amazonaws.com", true},
		"evil.com/x.dkr.ecr.us.amazonaws.com/a":  {"*.dkr.ecr.us.amazonaws.com", false},
		"Nothing that is an image":               {"*", false},
		"registry.example.com/a/b":               {"*", true},
		"registry.example.com/other/registry.io": {"registry.io", false},
	}
	for image, tc := range cases {
		t.Run(image, func(t *testing.T) {
			if got := (Registries{tc.registry}).Allow(image); got != tc.from {
				t.Errorf("got %t of %s", got, tc.registry)
			}
		})
	}
}

const sum = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

func TestASecretOfADriverIsAllowedByItself(t *testing.T) {
	volume := object(t, pods("{volumes: [{name: a, csi: {driver: d, nodePublishSecretRef: {name: s}}}]}"))
	for file, want := range map[string]string{
		"":                              "volumes[a] csi: ",
		"default: {volumeTypes: [csi]}": "volumes[a] csi.nodePublishSecretRef: ",
		"default: {volumeTypes: [csi, csi.nodePublishSecretRef]}": "",
	} {
		err := rulesOf(t, file, "demo", nil).Check([]*unstructured.Unstructured{volume})
		if (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got error %v, want %q", file, err, want)
		}
	}
}

func TestAMessageShowsTheFirstOfMany(t *testing.T) {
	var many []*unstructured.Unstructured
	for range 9 {
		many = append(many, object(t, pods("{nodeName: a, priorityClassName: system-node-critical}")))
	}
	err := Default().For("demo", nil).Check(many)
	if err == nil || !strings.Contains(err.Error(), "; and 15 more; allow it by ") || !strings.HasSuffix(err.Error(), "{names: [demo], nodeNames: true, priorityClasses: [+, system-node-critical]}") {
		t.Errorf("got %v", err)
	}
}

func TestNoTemplateIsHidden(t *testing.T) {
	for name, text := range map[string]string{
		"beside the one that is named": "kind: Fleet\nmetadata: {name: web, namespace: demo, annotations: {app.example.com/pod-template: spec.a}}\n" +
			"spec: {a: {spec: {containers: [{name: app, image: x}]}}, template: {spec: {priorityClassName: system-node-critical, containers: [{name: app, image: x}]}}}",
		"of a Pod of another group": "kind: Pod\nmetadata: {name: web, namespace: demo}\n" +
			"spec: {template: {metadata: {annotations: {iam.amazonaws.com/role: admin}}, spec: {containers: [{name: app, image: x}]}}}",
	} {
		require.Error(t, Default().For("demo", nil).Check([]*unstructured.Unstructured{object(t, "apiVersion: apps.example.com/v1\n"+text)}), name)
	}
}

func TestAnImageThatIsInjectedIsOfARegistry(t *testing.T) {
	annotated := object(t, deployment+"{template: {metadata: {annotations: {dapr.io/sidecar-image: 'daprio/daprd:1.8.3'}}, spec: {containers: [{name: app, image: registry.example.com/app:1}]}}}")
	require.NoError(t, Default().For("demo", nil).Check([]*unstructured.Unstructured{annotated}))
	rules := rulesOf(t, "default: {registries: [registry.example.com]}", "demo", nil)
	require.ErrorContains(t, rules.Check([]*unstructured.Unstructured{annotated}), "annotation dapr.io/sidecar-image daprio/daprd:1.8.3: registries allows registry.example.com")
	require.NoError(t, rules.Earlier().Check([]*unstructured.Unstructured{annotated}), "earlier versions did not look")
}

// A Pod has no template, so its metadata are checked once.
func TestABarePodIsChecked(t *testing.T) {
	pod := object(t, "apiVersion: v1\nkind: Pod\nmetadata: {name: web, namespace: demo, annotations: {iam.amazonaws.com/role: admin}}\n"+
		"spec: {priorityClassName: system-node-critical, containers: [{name: app, image: x}]}")
	err := Default().For("demo", nil).Check([]*unstructured.Unstructured{pod})
	refused, found := errors.AsType[*Error](err)
	require.True(t, found, err)
	require.Len(t, refused.Violations, 2)
	require.NoError(t, Default().For("demo", nil).Earlier().Check([]*unstructured.Unstructured{object(t, strings.Replace(
		"apiVersion: v1\nkind: Pod\nmetadata: {name: web, namespace: demo}\nspec: {priorityClassName: X, containers: [{name: app, image: x}]}", "X", "system-node-critical", 1))}),
		"earlier versions looked at no Pod, so what the recorded release has stays")
}
