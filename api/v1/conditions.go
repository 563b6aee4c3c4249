package v1

// The types of conditions. All of them are always present.
const (
	// ConditionReady sums up: everything is as the spec wants it.
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
	// ReasonScaledToZero: the spec wants no replicas and none are left.
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
	// ReasonQuotaExceeded: a quota of the namespace lets no more pods be created.
	ReasonQuotaExceeded = "QuotaExceeded"
	// ReasonAdmissionDenied: a rule of the cluster lets no pods be created.
	ReasonAdmissionDenied = "AdmissionDenied"
	// ReasonComplete: everything that was to run once has done so.
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
	// ReasonContended: another writer changes a field each time it is put back.
	ReasonContended = "Contended"
	// ReasonAdoptionRefused: what is there under the names that are rendered cannot be taken over as app.example.com/adopt
	// asks.
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
	// ReasonImmutableChange: the spec changes what cannot be changed on an object that is there.
	ReasonImmutableChange = "ImmutableChange"
	// ReasonTooLarge: the spec, its references, the hosts and paths of its routes, its rendered objects or its release
	// record exceed a limit.
	ReasonTooLarge = "TooLarge"
	// ReasonRecordDamaged: the newest Helm release record cannot be decoded; it has to be deleted by hand.
	ReasonRecordDamaged = "RecordDamaged"
	// ReasonAPIUnavailable: the cluster does not serve, or does not let anybody watch, a kind that the chart renders.
	ReasonAPIUnavailable = "APIUnavailable"
	// ReasonMissingRights: the operator may not see or write a kind that the chart renders.
	ReasonMissingRights = "MissingRights"
	// ReasonReturnedToRelease: what the spec asks for failed, and the last release that was Ready was applied again.
	ReasonReturnedToRelease = "ReturnedToRelease"
	// ReasonPaused: spec.paused is set; the operator leaves everything as it is.
	ReasonPaused = "Paused"
	// ReasonAsExpected: the condition has its usual value.
	ReasonAsExpected = "AsExpected"
)

// Reasons of problems that are not reasons of conditions.
const (
	// ReasonAPIAbsent: the cluster does not serve a kind that a field of the spec asks for; the field has no effect.
	ReasonAPIAbsent = "APIAbsent"
	// ReasonReferenceMissing: something that the spec refers to is missing, and pods start without it.
	ReasonReferenceMissing = "ReferenceMissing"
	// ReasonAutoscalingLimited: the load asks for more replicas than the autoscaler may have.
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
	// ReasonExpiring: the resource is about to be deleted, since it has nearly lived for its spec.ttl.
	ReasonExpiring = "Expiring"
	// ReasonExpirationFailed: the resource has lived for its spec.ttl, and could not be deleted.
	ReasonExpirationFailed = "ExpirationFailed"
	// ReasonSizeIgnored: spec.size was changed while spec.autoscaling decides on the number of replicas.
	ReasonSizeIgnored = "SizeIgnored"
)

// Reasons of events that are not reasons of conditions.
const (
	// ReasonDriftCorrected: an object that was deleted or edited was put back.
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
	// ReasonExpired: the resource was deleted, since it has lived for its spec.ttl.
	ReasonExpired = "Expired"
	// ReasonResumed: spec.paused was taken off.
	ReasonResumed = "Resumed"
)

// LabelManaged is the label, with value "true", that every rendered object and release record carries. The operator's
// caches select by it.
const LabelManaged = "app.example.com/managed"

// LabelDigest is the label of a release record that holds the digest of what was rendered.
const LabelDigest = "app.example.com/digest"

// LabelChartVersion is the label of a release record that holds the version of the chart that rendered it.
const LabelChartVersion = "app.example.com/chart-version"

// LabelChartDigest is the label of a release record that holds the digest of the chart that rendered it.
const LabelChartDigest = "app.example.com/chart-digest"

// LabelRenderedBy is the label of a release record that identifies the chart and the operator that rendered it.
const LabelRenderedBy = "app.example.com/rendered-by"

// LabelDefaults is the label of a release record that identifies the defaults of its namespace that it was rendered
// with; it is missing if the namespace had none.
const LabelDefaults = "app.example.com/defaults"

// LabelReferences is the label of a release record that identifies the content of the ConfigMaps and Secrets that its
// pods refer to, and the version of it that the pods carry. It has a digest of values of Secrets, as the record, a
// Secret itself, has other values.
const LabelReferences = "app.example.com/references"

// LabelReady is the label, with value "true", of the record of a release that was Ready, if its resource asks to return
// to one; and of those that are made of it again.
const LabelReady = "app.example.com/ready"

// LabelReturnedFrom is the label of the record of a release that answers one that failed: an earlier one, applied
// again. It identifies what was tried and failed, which is not tried again.
const LabelReturnedFrom = "app.example.com/returned-from"

// LabelRollout is the label of a release record of a rollout that the user did not ask for, until it is over: it
// identifies the chart, operator and defaults, and holds the generation of the resource, the time, and the numbers of
// replicas that were available before and since.
const LabelRollout = "app.example.com/rollout"

// AnnotationContinue is the annotation of a CRD that asks to go on with a chart that was halted for the resources of
// that kind. It holds the digest of the chart, or at least its first eight characters.
const AnnotationContinue = "app.example.com/continue-with-chart"

// AnnotationStamp is the annotation that holds the digest of an object as it was rendered.
const AnnotationStamp = "app.example.com/rendered"

// AnnotationRetainedFor is the annotation of an object that outlives its AppService, and of the claims of its replicas,
// with the name of the AppService: one of that name takes it again.
const AnnotationRetainedFor = "app.example.com/retained-for"

// AnnotationProgressDeadline is the annotation of a StatefulSet with the seconds that each replica may take to be
// replaced before the rollout counts as stalled. A Deployment has a field for that.
const AnnotationProgressDeadline = "app.example.com/progress-deadline-seconds"

// AnnotationInitialReplicas is the annotation of a Deployment that is autoscaled, with the number of replicas to start
// with.
const AnnotationInitialReplicas = "app.example.com/initial-replicas"

// AnnotationRequiredBy is the annotation of a rendered object that nothing can do without, with what needs it, as in
// spec.autoscaling.triggers: if the cluster does not serve its kind, the resource is refused. Any other object is left
// out then.
const AnnotationRequiredBy = "app.example.com/required-by"

// AnnotationReload is the annotation, with value "true", of a rendered object whose pods roll when a ConfigMap or
// Secret changes that the chart refers to and does not render.
const AnnotationReload = "app.example.com/reload-on-change"

// AnnotationPodSecurity is the annotation of a rendered object whose pods have to meet a level of the Pod Security
// Standards, because the spec asks for it: privileged, baseline or restricted. In Chart.yaml, it is what all pods of a
// chart have to meet.
const AnnotationPodSecurity = "app.example.com/pod-security"

// AnnotationRerun is the annotation of a rendered Job that runs once for each change of what it runs, with the fields
// of the resource's spec that say what that is, as in image,command,args; or "true" for the spec of the Job, as the
// chart renders it. Each run is a Job of its own.
const AnnotationRerun = "app.example.com/rerun-on-change"

// AnnotationStage is the annotation of a rendered object with the stage of a release in which it is written: before,
// main or after. The objects of a stage are written once those of the stage before are ready. What the stage before
// needs, and what does not exist, is created with it, and has the value early.
const AnnotationStage = "app.example.com/stage"

// AnnotationSkipTask is the annotation of a resource with digests of runs, or their first 24 characters, separated by
// commas: the Jobs of the stage before that would run one of them are skipped, and the rest of the release follows.
// kubectl appservice undo sets it.
const AnnotationSkipTask = "app.example.com/skip-release-task"

// AnnotationStarted is the annotation of such a Job once it was started: "true", or "suspended" while spec.suspend of
// the resource stops it.
const AnnotationStarted = "app.example.com/started"

// AnnotationPatched is the annotation of a rendered object whose pods spec.podTemplate was laid over, with the fields
// that it sets.
const AnnotationPatched = "app.example.com/pod-template-sets"

// AnnotationReadyWhen is the annotation of a rendered object, of any kind, with a CEL expression over the live object,
// which is called self: the object is ready if it is true. It replaces what is known of the kind; "true" leaves the
// object out.
const AnnotationReadyWhen = "app.example.com/ready-when"

// AnnotationReadyMessage is the annotation of an object with AnnotationReadyWhen that explains why it is not ready: a
// CEL expression over the live object that returns a string.
const AnnotationReadyMessage = "app.example.com/ready-message"

// AnnotationRestartedAt is the annotation of a resource that restarts its pods when it is set or changed; any value
// will do, a time is usual.
const AnnotationRestartedAt = "app.example.com/restarted-at"

// AnnotationStartedWith is the annotation of a Deployment that is autoscaled, with the number of replicas that it did
// start with. It is not rendered. A Deployment without it started with 1, which is what the API server gives a new one.
const AnnotationStartedWith = "app.example.com/started-with"

// AnnotationGenerate is the annotation of a rendered Secret with the keys that the operator fills once and never
// changes: password=24 for so many letters and digits, key=hex:32 or key=base64:32 for so many random bytes, and ca and
// tls for an authority and a pair that it signed, or ca:3650d and tls:365d with their lifetimes.
const AnnotationGenerate = "app.example.com/generate"

// AnnotationGenerateFor is the annotation of such a Secret with tls, with the DNS names of its certificate. The
// operator sets it when it renders.
const AnnotationGenerateFor = "app.example.com/generate-for"

// AnnotationGenerated is the annotation of such a Secret once it was filled, with the names of the keys. It is not
// rendered, nor are those below.
const AnnotationGenerated = "app.example.com/generated"

// AnnotationGeneratedVersion is the annotation of such a Secret with a version that changes if a key that was filled
// before is made again; and of pods that refer to such Secrets, with the version of each.
const AnnotationGeneratedVersion = "app.example.com/generated-version"

// AnnotationGeneratedFor is the annotation of such a Secret with a digest of the DNS names that its certificate
// was made for.
const AnnotationGeneratedFor = "app.example.com/generated-for"

// AnnotationRenewAfter is the annotation of such a Secret with the time after which a certificate in it is renewed, in
// RFC 3339; never if all of them are others'.
const AnnotationRenewAfter = "app.example.com/renew-after"

// AnnotationGenerateAgain is the annotation of a resource with the names, separated by commas, of its Secrets that are
// lost and may be filled with new values.
const AnnotationGenerateAgain = "app.example.com/generate-again"

// LabelOwner is the label of a cluster-scoped object, with the UID of the resource that it was rendered for: such an
// object cannot have an owner reference to a resource in a namespace.
const LabelOwner = "app.example.com/owner-uid"

// AnnotationOwnerKind is the annotation of a cluster-scoped object, with the kind of the resource that it was rendered
// for.
const AnnotationOwnerKind = "app.example.com/owner-kind"

// Finalizer holds a resource until the cluster-scoped objects that were rendered for it are deleted. AppServices have
// none.
const Finalizer = "app.example.com/cleanup"
