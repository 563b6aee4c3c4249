package v1

// AnnotationContinue is the annotation of a CRD that requests to continue with a chart that was halted for the
// resources of that kind. It holds the digest of the chart, or at least its first eight characters.
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

// AnnotationKeepsKind is the annotation of a rendered workload with the field that makes it one of its kind, as in
// spec.statefulSet: it neither takes the place of a live workload of another kind and its name, nor makes way for one.
const AnnotationKeepsKind = "app.example.com/keeps-kind"

// AnnotationReload is the annotation, with value "true", of a rendered object whose pods roll when a ConfigMap or
// Secret changes that the chart refers to and does not render.
const AnnotationReload = "app.example.com/reload-on-change"

// AnnotationPodSecurity is the annotation of a rendered object whose pods have to meet a level of the Pod Security
// Standards, because the spec requests it: privileged, baseline or restricted. In Chart.yaml, it is what all pods of a
// chart have to meet.
const AnnotationPodSecurity = "app.example.com/pod-security"

// AnnotationPodTemplate is the annotation of a rendered object of a kind that is not built in, with the field of its
// pod template, as in spec.template: its pods are treated as those of a Deployment.
const AnnotationPodTemplate = "app.example.com/pod-template"

// AnnotationRerun is the annotation of a rendered Job that runs once for each change of what it runs, with the fields
// of the resource's spec that say what that is, as in image,command,args; or "true" for the spec of the Job, as the
// chart renders it. Each run is a Job of its own.
const AnnotationRerun = "app.example.com/rerun-on-change"

// AnnotationStage is the annotation of a rendered object with the stage of a release in which it is written: before,
// main or after. The objects of a stage are written once those of the stage before are ready. Missing objects that the
// stage before needs are created with it, and have the value early.
const AnnotationStage = "app.example.com/stage"

// AnnotationMakes is the annotation of a rendered object of the stage before with what that makes for the rest of the
// release, as in Secret/NAME, ConfigMap/NAME: it is not waited for until the stage before is ready.
const AnnotationMakes = "app.example.com/makes"

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
// changes: password=24 for so many letters and digits, key=hex:32 or key=base64:32 for so many random bytes.
const AnnotationGenerate = "app.example.com/generate"

// AnnotationGenerateFor is the annotation of a Secret with a certificate that an earlier version made, with the DNS
// names of the Services. The operator sets it when it renders.
const AnnotationGenerateFor = "app.example.com/generate-for"

// AnnotationGenerated is the annotation of such a Secret once it was filled, with the names of the keys. It is not
// rendered, nor are those below.
const AnnotationGenerated = "app.example.com/generated"

// AnnotationGeneratedVersion is the annotation of such a Secret with a version that changes if a key that was filled
// before is made again; and of pods that refer to such Secrets, with the version of each.
const AnnotationGeneratedVersion = "app.example.com/generated-version"

// AnnotationChecksumKey is the annotation of a rendered Secret with the key of the checksums that pods show which take
// it: who may not read the Secret cannot test guesses at its content. The operator sets it when it renders.
const AnnotationChecksumKey = "app.example.com/checksum-key"

// AnnotationGenerateAgain is the annotation of a resource with the names, separated by commas, of its Secrets that are
// lost and may be filled with new values.
const AnnotationGenerateAgain = "app.example.com/generate-again"

// AnnotationOwnerKind is the annotation of a cluster-scoped object, with the kind of the resource that it was rendered
// for.
const AnnotationOwnerKind = "app.example.com/owner-kind"

// Finalizer holds a resource until the cluster-scoped objects that were rendered for it are deleted. AppServices have
// none.
const Finalizer = "app.example.com/cleanup"
