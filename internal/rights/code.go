package rights

import "k8s.io/apimachinery/pkg/runtime/schema"

// Descriptions in roles of the rights that follow from watches.yaml and from charts.
const (
	whyServed = "What watches.yaml names: the manager reads it and writes only its status. An owner reference with blockOwnerDeletion\n" +
		"needs finalizers where the admission plugin OwnerReferencesPermissionEnforcement runs."
	whyRendered = "The kinds that the charts render. They are written by server-side apply: a patch, and a create where it makes the object."
)

// The options for rights of the code itself. Those for kinds that charts render are in their Chart.yaml.
const (
	optionGatewayAPI  = "gatewayAPI"
	optionCertManager = "certManager"
)

// OfCode lists the rights that the code needs, whatever charts render. A new request in the code has to be added here: the integration
// tests fail if a right is missing, and if one is not used.
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

	references := Need{Why: "What specs refer to by name: internal/dependency. The defaults of a namespace are in a ConfigMap."}
	add(references, "", ToRefer, "configmaps", "persistentvolumeclaims", "serviceaccounts")

	add(Need{Why: "Events say what was done, and, listed while a rollout does not go on, why it does not: internal/diagnose."},
		"", []string{"list", "create", "patch"}, "events")
	stuck := Need{Why: "Why a rollout does not go on: they are listed while one does not, and never watched. internal/diagnose."}
	add(stuck, "", []string{"list"}, "pods")
	add(stuck, "apps", []string{"list"}, "replicasets")
	rivals := Need{Why: "Who would look after the pods of an adopted workload as well: they are listed when one is adopted. internal/release."}
	add(rivals, "autoscaling", []string{"list"}, "horizontalpodautoscalers")
	add(rivals, "policy", []string{"list"}, "poddisruptionbudgets")
	add(Need{Why: "Why a certificate that an Ingress names is missing: listed while it is. internal/diagnose.", Option: optionCertManager},
		"cert-manager.io", []string{"list"}, "certificates")

	add(Need{Why: "They say when such an API appears. Only their metadata is read: internal/watch.", ClusterScoped: true},
		"apiextensions.k8s.io", []string{"list", "watch"}, "customresourcedefinitions")
	outside := Need{Why: "What references point to, and the Pod Security level that a namespace enforces. Only their metadata is read:\n" +
		"internal/dependency.", ClusterScoped: true}
	add(outside, "", []string{"list", "watch"}, "namespaces")
	add(outside, "networking.k8s.io", []string{"list", "watch"}, "ingressclasses")
	add(outside, "storage.k8s.io", []string{"list", "watch"}, "storageclasses")
	add(Need{Why: "The gateways that routes attach to, in whichever namespace: their listeners say under which addresses a route answers.",
		ClusterScoped: true, Option: optionGatewayAPI}, "gateway.networking.k8s.io", ToRefer, "gateways")
	return list
}
