package diagnose

import v1 "github.com/example/appservice-operator/api/v1"

// again says how a Job runs again.
const again = "it runs again when the spec changes what it runs, or with kubectl appservice restart, which sets the annotation " + v1.AnnotationRestartedAt

// hints are the hints by reason. If more is known of a cause, it has a hint of its own.
var hints = map[string]string{
	v1.ReasonImageNotFound:             "correct name and tag in spec.image, or push the image",
	v1.ReasonImagePullUnauthorized:     "check the name of the image, and name a Secret with the registry's credentials in spec.imagePullSecrets",
	v1.ReasonImageNameInvalid:          "correct spec.image: REGISTRY/REPOSITORY:TAG, with a repository in lower case",
	v1.ReasonImagePullFailed:           "check the registry in spec.image, and whether nodes can reach it",
	v1.ReasonContainerCrashed:          "see kubectl logs --previous of the pod",
	v1.ReasonJobFailed:                 "see kubectl logs of the Job's pods; " + again,
	v1.ReasonRunUnknown:                "check what it has done; " + again,
	v1.ReasonOutOfMemory:               "raise spec.resources.limits.memory, or have the program use less",
	v1.ReasonContainerStartFailed:      "correct spec.command and spec.args, or the entry point of the image",
	v1.ReasonContainerConfigInvalid:    "correct what the message names in the spec",
	v1.ReasonStartupProbeFailing:       "correct spec.probes.startup, or give it more time: failureThreshold times periodSeconds, or startupSeconds",
	v1.ReasonLivenessProbeFailing:      "correct spec.probes.liveness; a slow start needs spec.probes.startupSeconds",
	v1.ReasonReadinessProbeFailing:     "correct spec.probes.readiness, or the endpoint that it checks; a slow start needs spec.probes.startupSeconds",
	v1.ReasonUnschedulable:             "lower spec.resources.requests, loosen spec.nodeSelector, affinity or tolerations, or ask for more nodes",
	v1.ReasonDependencyMissing:         "create it or change the reference",
	v1.ReasonVolumeNotBound:            "check spec.persistence.storageClassName and the cluster's provisioner (kubectl describe pvc)",
	v1.ReasonVolumeNotMounted:          "see kubectl describe pod, and the log of the node's storage driver",
	v1.ReasonNodeTrouble:               "ask the platform team: network or container runtime of the node are in trouble",
	v1.ReasonDefaultsInvalid:           "correct the defaults that the message names; the spec is not at fault",
	v1.ReasonQuotaExceeded:             "lower spec.size or spec.resources, or ask for a larger quota",
	v1.ReasonPolicyViolation:           "change what the message names, or ask the platform team, who set the policy",
	v1.ReasonPodSecurityViolation:      "set spec.security.profile, spec.security.pod or container as the level requires",
	v1.ReasonAdmissionDenied:           "change what the message names, or ask the platform team, who set the rule",
	v1.ReasonReplicaFailure:            "see kubectl describe replicaset",
	v1.ReasonRolloutStalled:            "see kubectl describe pod; a rollout that is only slow needs a longer spec.progressDeadlineSeconds",
	v1.ReasonRolloutPaused:             "run the command that the message names, with the namespace",
	v1.ReasonResourceNotReady:          "see kubectl describe of the object that the message names",
	v1.ReasonLoadBalancerPending:       "see kubectl describe service; outside of a cloud, a cluster needs a load balancer controller such as MetalLB",
	v1.ReasonCertificateMissing:        "create the Secret, or see kubectl describe certificate if cert-manager creates it",
	v1.ReasonAutoscalingFailed:         "see kubectl describe horizontalpodautoscaler, or scaledobject with KEDA",
	v1.ReasonAutoscalingLimited:        "raise spec.autoscaling.maxReplicas if this load is expected",
	v1.ReasonEvictionBlocked:           "run more replicas than spec.podDisruptionBudget keeps, or let it allow one to be unavailable",
	v1.ReasonAccessTooNarrow:           "add the namespace of the ingress controller, gateway or Prometheus to spec.access.from, for example {namespace: ingress-nginx}",
	v1.ReasonAutoscalingMetricsMissing: "install metrics-server, or the adapter for the metrics that spec.autoscaling names",
	v1.ReasonAutoscalingRequestMissing: "set spec.resources.requests for the resource that the message names, and resources.requests of each of spec.sidecars",
	v1.ReasonIngressClassMissing:       "set spec.ingress.className (kubectl get ingressclass)",
	v1.ReasonNodePortInvalid:           "choose a node port in the range that the message names, or leave it out",
	v1.ReasonNodePortConflict:          "choose another node port, or leave it out",
	v1.ReasonHostConflict:              "choose another host, or another path if the host is served from this namespace",
	v1.ReasonRouteNotAccepted:          "change what the message names in spec.route, or ask the owner of the Gateway",
	v1.ReasonImmutableChange:           "set the field back, or delete the object so that it is created again",
	v1.ReasonTooLarge:                  "move large content into ConfigMaps of your own",
	v1.ReasonResourceExists:            "delete or rename that object, or give the AppService another name",
	v1.ReasonContended:                 "have the other writer leave that field alone; kubectl get --show-managed-fields shows what it writes",
	v1.ReasonAdoptionRefused:           "change what the message names in the spec or in that object; docs/adopt.md explains each refusal",
	v1.ReasonLeftOver:                  "keep the objects or delete them: they stay as they are",
	v1.ReasonRecordDamaged:             "delete the Secret that the message names: the release is recorded again, objects stay",
	v1.ReasonInvalidSpec:               "change what the message names in the spec",
	v1.ReasonRenderFailed:              "change what the message names in the spec",
	v1.ReasonAPIUnavailable:            "ask the platform team to install that API",
	v1.ReasonMissingRights:             "ask the platform team to give the operator that right, and the maintainers of the chart to add it to the role",
	v1.ReasonInstallFailed:             refusedHint,
	v1.ReasonUpgradeFailed:             refusedHint,
	v1.ReasonRepairFailed:              refusedHint,
	v1.ReasonPaused:                    "set spec.paused to false, or remove it, to continue",
	v1.ReasonAPIAbsent:                 "ask the platform team to install that API; the operator continues once it is there",
	v1.ReasonFieldUnknown:              "ask the platform team to upgrade the operator to the version of the CRD; until then, the field has no effect",
	v1.ReasonReferenceMissing:          "create it, or wait until it is created; pods start without it",
	v1.ReasonRolloutHeldBack:           "no action is needed here: the platform team controls the rollout of a new chart or operator",
	v1.ReasonExpiring:                  "raise spec.ttl, which counts from the creation, to keep it longer, or remove it to keep it for good",
	v1.ReasonExpirationFailed:          "change what the message names, or ask the platform team for that right; the operator retries by itself. Remove spec.ttl to keep it",
	v1.ReasonSizeIgnored:               "set spec.autoscaling.minReplicas or maxReplicas instead, or remove spec.autoscaling",
}

// refusedHint is the hint for anything that the API server refuses.
const refusedHint = "change what the API server refuses; the operator retries by itself"

// Hint returns what to do about a reason; empty if nothing has to be done.
func Hint(reason string) string { return hints[reason] }

// recurring are the reasons of causes that pods do not show all the time: between two crashes a container seems healthy.
var recurring = map[string]bool{
	v1.ReasonContainerCrashed: true, v1.ReasonOutOfMemory: true, v1.ReasonLivenessProbeFailing: true, v1.ReasonStartupProbeFailing: true,
}

// Recurs reports whether pods may seem healthy while a reason lasts.
func Recurs(reason string) bool { return recurring[reason] }

// shown are the reasons that are found only by looking at pods.
var shown = map[string]bool{
	v1.ReasonImageNotFound: true, v1.ReasonImagePullUnauthorized: true, v1.ReasonImageNameInvalid: true, v1.ReasonImagePullFailed: true,
	v1.ReasonContainerStartFailed: true, v1.ReasonContainerConfigInvalid: true, v1.ReasonReadinessProbeFailing: true, v1.ReasonUnschedulable: true,
	v1.ReasonDependencyMissing: true, v1.ReasonVolumeNotBound: true, v1.ReasonVolumeNotMounted: true, v1.ReasonNodeTrouble: true,
	v1.ReasonJobFailed: true,
}

// Seen reports whether a reason is found by looking at pods.
func Seen(reason string) bool { return shown[reason] || recurring[reason] }
