package rbac

import "k8s.io/apimachinery/pkg/runtime/schema"

// Descriptions in roles of the rights that follow from watches.yaml and from charts.
const (
	whyServed = "The kinds of watches.yaml: the manager reads them and writes only their status. An owner reference with blockOwnerDeletion\n" +
		"needs finalizers if the admission plugin OwnerReferencesPermissionEnforcement runs."
	whyRendered = "The kinds that the charts render. They are written by server-side apply: a patch, and a create if the object is new."
)

// The options for rights of the code itself. Those for kinds that charts render are in their Chart.yaml.
const (
	optionGatewayAPI  = "gatewayAPI"
	optionCertManager = "certManager"
)

// OfCode lists the rights that the code needs with any chart. A new request in the code has to be added here: the
// integration tests fail if a right is missing, and if one is not used.
func OfCode() []Need {
	var list []Need
	add := func(need Need, group string, verbs []string, resources ...string) {
		for _, resource := range resources {
			need.GroupResource, need.Verbs = schema.GroupResource{Group: group, Resource: resource}, verbs
			list = append(list, need)
		}
	}
	records := Need{Why: "Rendered Secrets, and Helm's release records, which Helm writes with update. RBAC cannot narrow this to labels. Of all\n" +
		"Secrets, only metadata is listed and watched."}
	add(records, "", []string{"get", "list", "watch", "create", "update", "patch", "delete"}, "secrets")

	references := Need{Why: "References of specs by name: internal/engine/kube/reference. The defaults of a namespace are in a ConfigMap."}
	add(references, "", ToRefer, "configmaps", "persistentvolumeclaims", "serviceaccounts")

	add(Need{Why: "Events report what was done; they are listed while a rollout makes no progress, to find out why: internal/operator/status/diagnose."},
		"", []string{"list", "create", "patch"}, "events")
	stuck := Need{Why: "They show why a rollout makes no progress; they are listed only then, and never watched: internal/operator/status/diagnose."}
	add(stuck, "", []string{"list"}, "pods")
	add(stuck, "apps", []string{"list"}, "replicasets")
	rivals := Need{Why: "Objects that would also apply to the pods of an adopted workload; they are listed for an adoption,\n" +
		"and autoscalers to name the one that keeps changing a number of replicas: internal/engine/release."}
	add(rivals, "autoscaling", []string{"list"}, "horizontalpodautoscalers")
	add(rivals, "policy", []string{"list"}, "poddisruptionbudgets")
	add(Need{Why: "They show why the certificate of an Ingress is missing, and are listed only then: internal/operator/status/diagnose.", Option: optionCertManager},
		"cert-manager.io", []string{"list"}, "certificates")

	add(Need{Why: "They show when such an API appears. Only their metadata is read: internal/engine/watch.",
		ClusterScoped: true},
		"apiextensions.k8s.io", []string{"list", "watch"}, "customresourcedefinitions")
	outside := Need{Why: "The objects of references, and the Pod Security level that a namespace enforces. Only their metadata is read:\n" +
		"internal/engine/kube/reference.", ClusterScoped: true}
	add(outside, "", []string{"list", "watch"}, "namespaces")
	add(outside, "networking.k8s.io", []string{"list", "watch"}, "ingressclasses")
	add(outside, "storage.k8s.io", []string{"list", "watch"}, "storageclasses")
	add(Need{Why: "The gateways that routes attach to, in any namespace: the addresses of a route follow from their listeners.",
		ClusterScoped: true, Option: optionGatewayAPI}, "gateway.networking.k8s.io", ToRefer, "gateways")
	add(Need{Why: "The routes of others: who serves a host keeps it, whoever made the route: internal/operator/hosts.",
		Option: optionGatewayAPI},
		"gateway.networking.k8s.io", []string{"list", "watch"}, "grpcroutes")
	return list
}
