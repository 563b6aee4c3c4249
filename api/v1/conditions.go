package v1

// The types of conditions. All of them are always present.
const (
	// ConditionReady sums up: everything is as the spec requires.
	ConditionReady = "Ready"
	// ConditionAvailable reports whether enough pods serve, according to the Deployment.
	ConditionAvailable = "Available"
	// ConditionProgressing reports whether the Deployment's rollout moves or is complete.
	ConditionProgressing = "Progressing"
	// ConditionDeployed reports whether the newest Helm release is deployed.
	ConditionDeployed = "Deployed"
	// ConditionReconciling is True while the operator or the cluster still works towards the spec (kstatus).
	ConditionReconciling = "Reconciling"
	// ConditionStalled is True when nothing moves without help (kstatus).
	ConditionStalled = "Stalled"
)

// Reasons of conditions.
const (
	// ReasonRunning: every replica is up to date and available.
	ReasonRunning = "Running"
	// ReasonScaledToZero: the spec requests no replicas and none are left.
	ReasonScaledToZero = "ScaledToZero"
	// ReasonRollingOut: the Deployment replaces or starts pods.
	ReasonRollingOut = "RollingOut"
	// ReasonRolloutStalled: the rollout passed its progress deadline.
	ReasonRolloutStalled = "RolloutStalled"
	// ReasonRolloutPaused: kubectl rollout pause holds a rollout back.
	ReasonRolloutPaused = "RolloutPaused"
	// ReasonReplicaFailure: the cluster refuses to create pods, for a reason that is not known by name.
	ReasonReplicaFailure = "ReplicaFailure"
	// ReasonImageNotFound: the registry does not have the image, or the node does not and may not pull it.
	ReasonImageNotFound = "ImageNotFound"
	// ReasonImagePullUnauthorized: the registry denies access to the image.
	ReasonImagePullUnauthorized = "ImagePullUnauthorized"
	// ReasonImageNameInvalid: the image has a name that no image can have.
	ReasonImageNameInvalid = "ImageNameInvalid"
	// ReasonImagePullFailed: the image cannot be pulled for another reason.
	ReasonImagePullFailed = "ImagePullFailed"
	// ReasonContainerCrashed: a container ends again and again.
	ReasonContainerCrashed = "ContainerCrashed"
	// ReasonOutOfMemory: a container was ended because it used more memory than it may.
	ReasonOutOfMemory = "OutOfMemory"
	// ReasonContainerStartFailed: the first process of a container cannot be started.
	ReasonContainerStartFailed = "ContainerStartFailed"
	// ReasonContainerConfigInvalid: a container cannot be made as it is configured.
	ReasonContainerConfigInvalid = "ContainerConfigInvalid"
	// ReasonStartupProbeFailing: the startup probe of a container fails.
	ReasonStartupProbeFailing = "StartupProbeFailing"
	// ReasonLivenessProbeFailing: the liveness probe of a container fails, so that it is started again and again.
	ReasonLivenessProbeFailing = "LivenessProbeFailing"
	// ReasonReadinessProbeFailing: the readiness probe of a container fails.
	ReasonReadinessProbeFailing = "ReadinessProbeFailing"
	// ReasonUnschedulable: no node can take a pod.
	ReasonUnschedulable = "Unschedulable"
	// ReasonVolumeNotBound: a claim that a pod needs has no volume.
	ReasonVolumeNotBound = "VolumeNotBound"
	// ReasonVolumeNotMounted: a volume cannot be attached or mounted.
	ReasonVolumeNotMounted = "VolumeNotMounted"
	// ReasonNodeTrouble: a node cannot set up a pod.
	ReasonNodeTrouble = "NodeTrouble"
	// ReasonDeletionBlocked: an object that is being deleted does not go, and something waits for that.
	ReasonDeletionBlocked = "DeletionBlocked"
	// ReasonQuotaExceeded: a quota of the namespace lets no more pods be created.
	ReasonQuotaExceeded = "QuotaExceeded"
	// ReasonAdmissionDenied: a rule of the cluster lets no pods be created.
	ReasonAdmissionDenied = "AdmissionDenied"
	// ReasonComplete: all Jobs that run once have completed.
	ReasonComplete = "Complete"
	// ReasonJobFailed: a Job failed, or the last run of a CronJob.
	ReasonJobFailed = "JobFailed"
	// ReasonRunUnknown: a Job that runs once is gone, and it is not known how it ended. It does not run again unasked.
	ReasonRunUnknown = "RunUnknown"
	// ReasonResourceNotReady: an object is not ready, for a reason that has no name of its own.
	ReasonResourceNotReady = "ResourceNotReady"
	// ReasonLoadBalancerPending: a Service of type LoadBalancer has no address.
	ReasonLoadBalancerPending = "LoadBalancerPending"
	// ReasonCertificateMissing: an Ingress names a Secret for TLS that does not exist.
	ReasonCertificateMissing = "CertificateMissing"
	// ReasonAutoscalingFailed: the autoscaler may not or cannot change the number of replicas.
	ReasonAutoscalingFailed = "AutoscalingFailed"
	// ReasonAutoscalingMetricsMissing: the autoscaler has no metrics, so that the number of replicas stays. A warning.
	ReasonAutoscalingMetricsMissing = "AutoscalingMetricsMissing"
	// ReasonAutoscalingRequestMissing: the autoscaler aims at a share of what a container requests, and it requests
	// nothing. A warning if the autoscaler has other targets that work.
	ReasonAutoscalingRequestMissing = "AutoscalingRequestMissing"
	// ReasonPending: the Helm release is about to be installed or upgraded, or waits for something that passes.
	ReasonPending = "Pending"
	// ReasonNoWorkload: the chart rendered nothing that runs.
	ReasonNoWorkload = "NoWorkload"
	// ReasonInstalled: the first release is deployed.
	ReasonInstalled = "Installed"
	// ReasonUpgraded: a later release is deployed.
	ReasonUpgraded = "Upgraded"
	// ReasonInvalidSpec: the spec cannot be translated into chart values.
	ReasonInvalidSpec = "InvalidSpec"
	// ReasonDefaultsInvalid: the defaults of the namespace, or of the platform, cannot be used, or not for this spec.
	ReasonDefaultsInvalid = "DefaultsInvalid"
	// ReasonRenderFailed: the chart refuses the values or a template fails.
	ReasonRenderFailed = "RenderFailed"
	// ReasonInstallFailed: the API server refused an object of the first release.
	ReasonInstallFailed = "InstallFailed"
	// ReasonUpgradeFailed: the API server refused an object of a later release.
	ReasonUpgradeFailed = "UpgradeFailed"
	// ReasonRepairFailed: the API server refused to repair an object.
	ReasonRepairFailed = "RepairFailed"
	// ReasonResourceExists: an object or a Helm release of the name belongs to another owner.
	ReasonResourceExists = "ResourceExists"
	// ReasonContended: another writer changes a field each time it is restored.
	ReasonContended = "Contended"
	// ReasonAdoptionRefused: existing objects of the rendered names cannot be adopted as app.example.com/adopt
	// requests.
	ReasonAdoptionRefused = "AdoptionRefused"
	// ReasonPodSecurityViolation: the pods would be below the Pod Security Standard that the namespace enforces by its
	// label, or, if it has none, below Baseline, or below what the chart requires.
	ReasonPodSecurityViolation = "PodSecurityViolation"
	// ReasonPolicyViolation: an object would be what the platform's policy does not allow in the namespace.
	ReasonPolicyViolation = "PolicyViolation"
	// ReasonGeneratedSecretLost: a Secret that the operator had filled with values is gone, and the application may depend
	// on them.
	ReasonGeneratedSecretLost = "GeneratedSecretLost"
	// ReasonDependencyMissing: a ConfigMap, a Secret, one of their keys or another object is missing that pods need to
	// start, or the class of an Ingress or of a claim.
	ReasonDependencyMissing = "DependencyMissing"
	// ReasonHostConflict: another resource serves the host and path.
	ReasonHostConflict = "HostConflict"
	// ReasonRouteNotAccepted: a gateway refuses a route or cannot resolve its references, or no controller has processed
	// it.
	ReasonRouteNotAccepted = "RouteNotAccepted"
	// ReasonNodePortInvalid: the node port is outside of the range of the cluster.
	ReasonNodePortInvalid = "NodePortInvalid"
	// ReasonNodePortConflict: another Service has the node port.
	ReasonNodePortConflict = "NodePortConflict"
	// ReasonImmutableChange: the spec changes an immutable field of an existing object.
	ReasonImmutableChange = "ImmutableChange"
	// ReasonTooLarge: the spec, its references, the hosts and paths of its routes, its rendered objects or its release
	// record exceed a limit.
	ReasonTooLarge = "TooLarge"
	// ReasonRecordDamaged: the newest Helm release record cannot be decoded; it has to be deleted by hand.
	ReasonRecordDamaged = "RecordDamaged"
	// ReasonAPIUnavailable: the cluster does not serve a kind that the chart renders, or does not let the operator
	// watch it.
	ReasonAPIUnavailable = "APIUnavailable"
	// ReasonAPITooOld: the cluster's version of an API does not have a field that the chart renders.
	ReasonAPITooOld = "APITooOld"
	// ReasonMissingRights: the operator may not see or write a kind that the chart renders.
	ReasonMissingRights = "MissingRights"
	// ReasonReturnedToRelease: what the spec requests failed, and the last release that was Ready was applied again.
	ReasonReturnedToRelease = "ReturnedToRelease"
	// ReasonPaused: spec.paused is set; the operator leaves everything as it is.
	ReasonPaused = "Paused"
	// ReasonAsExpected: the condition has its usual value.
	ReasonAsExpected = "AsExpected"
)

// Reasons of problems that are not reasons of conditions.
const (
	// ReasonAPIAbsent: the cluster does not serve a kind that a field of the spec requests; the field has no effect.
	ReasonAPIAbsent = "APIAbsent"
	// ReasonReferenceMissing: something that the spec refers to is missing, and pods start without it.
	ReasonReferenceMissing = "ReferenceMissing"
	// ReasonAutoscalingLimited: the load requests more replicas than the autoscaler may have.
	ReasonAutoscalingLimited = "AutoscalingLimited"
	// ReasonEvictionBlocked: a disruption budget lets no pod go, so that nodes cannot be drained.
	ReasonEvictionBlocked = "EvictionBlocked"
	// ReasonAccessTooNarrow: a NetworkPolicy keeps out every possible controller of the Ingress or route, or Prometheus.
	ReasonAccessTooNarrow = "AccessTooNarrow"
	// ReasonIngressClassMissing: the Ingress names no class and the cluster has no default one.
	ReasonIngressClassMissing = "IngressClassMissing"
	// ReasonRolloutHeldBack: what a new chart or operator changes waits, until others are done or because the chart is
	// held back.
	ReasonRolloutHeldBack = "RolloutHeldBack"
	// ReasonFieldUnknown: a field of the spec is stored that the operator does not know, since the CRD is newer; the field
	// has no effect.
	ReasonFieldUnknown = "FieldUnknown"
	// ReasonFieldDropped: a chart that is served as it was published renders a field that its kind does not have, or one
	// field twice; what has no effect is left out.
	ReasonFieldDropped = "FieldDropped"
	// ReasonLookupEmpty: a template of a chart that is served as it was published looks for an object of the cluster; it
	// finds none, whether there is one or not.
	ReasonLookupEmpty = "LookupEmpty"
	// ReasonDefinitionMissing: a chart renders CustomResourceDefinitions, which were left out, and the cluster does not
	// have them.
	ReasonDefinitionMissing = "DefinitionMissing"
	// ReasonExpiring: the resource is about to be deleted, since it has nearly lived for its spec.ttl.
	ReasonExpiring = "Expiring"
	// ReasonExpirationFailed: the spec.ttl of the resource is over, and it could not be deleted.
	ReasonExpirationFailed = "ExpirationFailed"
	// ReasonSizeIgnored: spec.size was changed while spec.autoscaling decides on the number of replicas.
	ReasonSizeIgnored = "SizeIgnored"
)

// Reasons of events that are not reasons of conditions.
const (
	// ReasonDriftCorrected: an object that was deleted or edited was restored.
	ReasonDriftCorrected = "DriftCorrected"
	// ReasonStarted: a Job was started.
	ReasonStarted = "Started"
	// ReasonAdopted: objects that others made were taken over.
	ReasonAdopted = "Adopted"
	// ReasonLeftOver: objects of an adopted Helm release, or of a kind that may not be read any more, are not rendered,
	// and stay as they are.
	ReasonLeftOver = "LeftOver"
	// ReasonReleaseResumed: a release that an earlier operator process left unfinished was taken up.
	ReasonReleaseResumed = "ReleaseResumed"
	// ReasonDegraded: nothing moves without help, but something still serves.
	ReasonDegraded = "Degraded"
	// ReasonStalled: nothing moves without help, and nothing serves.
	ReasonStalled = "Stalled"
	// ReasonRecovered: what was Degraded or Stalled is as desired again.
	ReasonRecovered = "Recovered"
	// ReasonExpired: the resource was deleted at the end of its spec.ttl.
	ReasonExpired = "Expired"
	// ReasonResumed: spec.paused was removed.
	ReasonResumed = "Resumed"
	// ReasonChartRefused: the chart of a kind cannot be used. An event of its CRD.
	ReasonChartRefused = "ChartRefused"
	// ReasonChartWarning: something in the chart of a kind has no effect. An event of its CRD.
	ReasonChartWarning = "ChartWarning"
)
