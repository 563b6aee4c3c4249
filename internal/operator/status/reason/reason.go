// Package reason has the table of the reasons of Ready and of problems: what to do about each, and how it shows. A new
// reason is a constant in api/v1 and a row here.
package reason

import v1 "github.com/example/appservice-operator/api/v1"

// Reason has the properties of a reason. The zero value stands for a reason that needs no action.
type Reason struct {
	// Hint says what to do; empty if nothing has to be done. If more is known of a cause, that has a hint of its own.
	Hint string
	// InPods is true if it is found only by looking at pods.
	InPods bool
	// Recurs is true if pods may seem healthy while it lasts: between two crashes a container is ready for a moment.
	Recurs bool
	// LeadsBack is true if it is a cause of the release itself, which another release may not have. One that others have
	// at the same time, as of a registry, of nodes or of a quota, does not lead back: a fleet would go back with it.
	LeadsBack bool
	// Holds is what waits until the reason is gone; empty if nothing does, or if everything does.
	Holds string
}

// Of returns the properties of a reason; the zero value if the table lacks it, as those of other controllers.
func Of(name string) Reason { return reasons[name] }

// RunAgain says how a Job runs again.
const RunAgain = "the Job runs again when its image, command or environment changes in the spec, or by kubectl appservice restart, which sets the annotation " + v1.AnnotationRestartedAt

// refused is the hint for anything that the API server refuses.
const refused = "change the fields that the API server refuses; the operator retries automatically"

var reasons = map[string]Reason{
	v1.ReasonImageNotFound:         {Hint: "correct name and tag in spec.image, or push the image", InPods: true, LeadsBack: true},
	v1.ReasonImagePullUnauthorized: {Hint: "check the name of the image, and name a Secret with the registry's credentials in spec.imagePullSecrets", InPods: true},
	v1.ReasonImageNameInvalid: {Hint: "correct spec.image: REGISTRY/REPOSITORY:TAG, with a repository in lower case",
		InPods: true, LeadsBack: true},
	v1.ReasonImagePullFailed: {Hint: "check the registry in spec.image, and whether nodes can reach it",
		InPods: true},
	v1.ReasonContainerCrashed: {Hint: "see kubectl logs --previous of the pod", InPods: true, Recurs: true, LeadsBack: true},
	v1.ReasonJobFailed:        {Hint: "see kubectl logs of the Job's pods; " + RunAgain, InPods: true},
	v1.ReasonRunUnknown:       {Hint: "check what the Job has done; " + RunAgain},
	v1.ReasonOutOfMemory: {Hint: "raise spec.resources.limits.memory, or have the program use less",
		InPods: true, Recurs: true, LeadsBack: true},
	v1.ReasonContainerStartFailed: {Hint: "correct spec.command and spec.args, or the entry point of the image",
		InPods: true, LeadsBack: true},
	v1.ReasonContainerConfigInvalid: {Hint: "correct the fields named in the message", InPods: true, LeadsBack: true},
	v1.ReasonStartupProbeFailing:    {Hint: "correct spec.probes.startup, or give it more time: failureThreshold times periodSeconds, or startupSeconds", InPods: true, Recurs: true, LeadsBack: true},
	v1.ReasonLivenessProbeFailing: {Hint: "correct spec.probes.liveness; a slow start needs spec.probes.startupSeconds",
		InPods: true, Recurs: true, LeadsBack: true},
	v1.ReasonReadinessProbeFailing: {Hint: "correct spec.probes.readiness, or the endpoint that it checks; a slow start needs spec.probes.startupSeconds", InPods: true, LeadsBack: true},
	v1.ReasonUnschedulable:         {Hint: "lower spec.resources.requests, loosen spec.nodeSelector, affinity or tolerations, or ask for more nodes", InPods: true},
	v1.ReasonGeneratedSecretLost:   {Hint: "restore the Secret that the message names from a backup, or name it in the annotation " + v1.AnnotationGenerateAgain + " to have new values generated"},
	v1.ReasonDependencyMissing:     {Hint: "create the missing object or key, or change the reference", InPods: true},
	v1.ReasonVolumeNotBound:        {Hint: "check storageClassName of spec.persistence or spec.claims, and the cluster's provisioner (kubectl describe pvc)", InPods: true},
	v1.ReasonVolumeNotMounted: {Hint: "see kubectl describe pod, and the log of the node's storage driver",
		InPods: true},
	v1.ReasonNodeTrouble:               {Hint: "ask the platform team: the network or the container runtime of the node fails", InPods: true},
	v1.ReasonDeletionBlocked:           {Hint: "let the object go that the message names: kubectl describe shows what holds it", InPods: true},
	v1.ReasonDefaultsInvalid:           {Hint: "correct the defaults that the message names; the spec is not at fault"},
	v1.ReasonQuotaExceeded:             {Hint: "lower spec.size or spec.resources, or ask for a larger quota"},
	v1.ReasonPolicyViolation:           {Hint: "change the fields named in the message, or ask the platform team, who set the policy"},
	v1.ReasonPodSecurityViolation:      {Hint: "set spec.security.profile, spec.security.pod or container as the level requires"},
	v1.ReasonAdmissionDenied:           {Hint: "change the fields named in the message, or ask the platform team, who set the rule"},
	v1.ReasonReplicaFailure:            {Hint: "see kubectl describe replicaset"},
	v1.ReasonRolloutStalled:            {Hint: "see kubectl describe pod; a rollout that is only slow needs a longer spec.progressDeadlineSeconds", LeadsBack: true},
	v1.ReasonRolloutPaused:             {Hint: "run the command that the message names, with the namespace"},
	v1.ReasonResourceNotReady:          {Hint: "see kubectl describe of the object that the message names"},
	v1.ReasonLoadBalancerPending:       {Hint: "see kubectl describe service; outside of a cloud, a cluster needs a load balancer controller such as MetalLB"},
	v1.ReasonCertificateMissing:        {Hint: "create the Secret, or see kubectl describe certificate if cert-manager creates it"},
	v1.ReasonAutoscalingFailed:         {Hint: "see kubectl describe horizontalpodautoscaler, or scaledobject with KEDA"},
	v1.ReasonAutoscalingLimited:        {Hint: "raise spec.autoscaling.maxReplicas if this load is expected"},
	v1.ReasonEvictionBlocked:           {Hint: "raise spec.size, or set spec.podDisruptionBudget.maxUnavailable to 1"},
	v1.ReasonAccessTooNarrow:           {Hint: "add the namespace of the ingress controller, gateway or Prometheus to spec.access.from, for example {namespace: ingress-nginx}"},
	v1.ReasonAutoscalingMetricsMissing: {Hint: "install metrics-server, or the adapter for the metrics that spec.autoscaling names"},
	v1.ReasonAutoscalingRequestMissing: {Hint: "set spec.resources.requests for the resource that the message names, and resources.requests of each of spec.sidecars"},
	v1.ReasonIngressClassMissing:       {Hint: "set spec.ingress.className (kubectl get ingressclass)"},
	v1.ReasonNodePortInvalid:           {Hint: "choose a node port in the range that the message names, or leave it out"},
	v1.ReasonNodePortConflict:          {Hint: "choose another node port, or leave it out"},
	v1.ReasonHostConflict:              {Hint: "choose another host, or another path if the host is served from this namespace", Holds: "the route, until the host is free"},
	v1.ReasonRouteNotAccepted:          {Hint: "change the fields of spec.route named in the message, or ask the owner of the Gateway"},
	v1.ReasonImmutableChange:           {Hint: "set the field back, or delete the object so that it is created again"},
	v1.ReasonTooLarge:                  {Hint: "move large content into ConfigMaps of your own"},
	v1.ReasonResourceExists:            {Hint: "give this resource another name, or take that object over (docs/adopt.md); what it holds is lost if you delete it"},
	v1.ReasonContended:                 {Hint: "stop the other writer from changing that field; kubectl get --show-managed-fields shows what it writes; if there is none, the cluster may not support the field: remove it from the spec"},
	v1.ReasonAdoptionRefused:           {Hint: "change the fields named in the message, in the spec or in that object; docs/adopt.md explains each refusal"},
	v1.ReasonLeftOver:                  {Hint: "keep or delete the objects yourself: they stay as they are"},
	v1.ReasonRecordDamaged:             {Hint: "delete the Secret that the message names: the release is recorded again, objects stay"},
	v1.ReasonInvalidSpec:               {Hint: "change the fields named in the message"},
	v1.ReasonRenderFailed:              {Hint: "change the fields named in the message"},
	v1.ReasonAPIUnavailable:            {Hint: "ask the platform team to install that API"},
	v1.ReasonAPITooOld:                 {Hint: "ask the platform team to upgrade that API, or remove the field from the spec; if no version of the API has it, tell the maintainers of the chart"},
	v1.ReasonMissingRights:             {Hint: "ask the platform team to give the operator that right; the maintainers of the chart can add it to the role"},
	v1.ReasonInstallFailed:             {Hint: refused},
	v1.ReasonUpgradeFailed:             {Hint: refused},
	v1.ReasonRepairFailed:              {Hint: refused},
	v1.ReasonPaused:                    {Hint: "set spec.paused to false, or remove it, to continue"},
	v1.ReasonAPIAbsent:                 {Hint: "ask the platform team to install that API; the operator continues once it is there"},
	v1.ReasonFieldUnknown:              {Hint: "ask the platform team to upgrade the operator to the version of the CRD; until then, the field has no effect"},
	v1.ReasonFieldDropped:              {Hint: "no action is needed if the objects are as you want them: Helm treats them in the same way"},
	v1.ReasonDefinitionMissing:         {},
	v1.ReasonLookupEmpty:               {Hint: "no action is needed, unless the chart should use an existing object: then name that in the spec"},
	v1.ReasonReferenceMissing:          {Hint: "create the missing object, or wait until it is created; pods start without it"},
	v1.ReasonRolloutHeldBack:           {Hint: "no action is needed here: the platform team controls the rollout of a new chart or operator", Holds: "a new chart, operator or defaults"},
	v1.ReasonReturnedToRelease:         {Hint: "correct the spec: a changed spec is tried. kubectl appservice restart retries it as it is; kubectl appservice undo sets the spec of the running release", Holds: "the release of the spec, until it is tried again"},
	v1.ReasonExpiring:                  {Hint: "raise spec.ttl, which counts from the creation, to keep the AppService longer, or remove it to keep it forever", Holds: "deletion"},
	v1.ReasonExpirationFailed:          {Hint: "change the object named there, or ask the platform team for that right; the operator retries automatically. Remove spec.ttl to keep the AppService"},
	v1.ReasonSizeIgnored:               {Hint: "set spec.autoscaling.minReplicas or maxReplicas instead, or remove spec.autoscaling"},

	// All is well or on its way, or an event tells what was done.
	v1.ReasonRunning:        {},
	v1.ReasonScaledToZero:   {},
	v1.ReasonRollingOut:     {},
	v1.ReasonComplete:       {},
	v1.ReasonPending:        {},
	v1.ReasonNoWorkload:     {},
	v1.ReasonInstalled:      {},
	v1.ReasonUpgraded:       {},
	v1.ReasonAsExpected:     {},
	v1.ReasonDriftCorrected: {},
	v1.ReasonStarted:        {},
	v1.ReasonAdopted:        {},
	v1.ReasonReleaseResumed: {},
	v1.ReasonDegraded:       {},
	v1.ReasonStalled:        {},
	v1.ReasonRecovered:      {},
	v1.ReasonExpired:        {},
	v1.ReasonResumed:        {},
	v1.ReasonChartRefused:   {},
	v1.ReasonChartWarning:   {},
}
