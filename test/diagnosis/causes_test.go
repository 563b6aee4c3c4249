package diagnosis

import (
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/operator/status/diagnose"
)

// row is what the status says of a recording.
type row struct {
	// reason of the cause; empty if none is found.
	reason string
	// words that the message has.
	words []string
	// hint holds this.
	hint   string
	effect diagnose.Effect
	// serves says that an earlier version does.
	serves bool
}

const lasting, passing, advice = diagnose.Lasting, diagnose.Passing, diagnose.Advice

var rows = map[string]row{
	"image-not-found":        {reason: v1.ReasonImageNotFound, words: []string{`image "localhost:5000/missing/app:1" cannot be pulled: the registry does not have it`}, hint: "spec.image", effect: lasting},
	"image-unauthorized":     {reason: v1.ReasonImagePullUnauthorized, words: []string{"the registry denies access"}, hint: "imagePullSecrets", effect: lasting},
	"image-denied":           {reason: v1.ReasonImagePullUnauthorized, words: []string{"denies access, or the repository does not exist"}, hint: "imagePullSecrets", effect: lasting},
	"image-rate-limited":     {reason: v1.ReasonImagePullFailed, words: []string{"rate limit"}, hint: "registry", effect: lasting},
	"image-registry-unknown": {reason: v1.ReasonImagePullFailed, words: []string{"name of the registry cannot be resolved"}, hint: "registry", effect: lasting},
	"image-first-attempt":    {reason: v1.ReasonImageNotFound, words: []string{"app:2"}, hint: "spec.image", effect: passing},
	"image-name-invalid":     {reason: v1.ReasonImageNameInvalid, words: []string{`"Example.com/Team/App:1" is not a valid image name`, "must be lowercase"}, hint: "lower case", effect: lasting},
	"image-never":            {reason: v1.ReasonImageNotFound, words: []string{"imagePullPolicy Never"}, hint: "IfNotPresent", effect: lasting},
	"image-not-found-while-another-serves": {
		reason: v1.ReasonImageNotFound, words: []string{"app:3", "; rollout stalled, the previous version still runs"}, hint: "spec.image", effect: lasting, serves: true,
	},

	"crash":                      {reason: v1.ReasonContainerCrashed, words: []string{"exit code 3", `: cannot connect to "postgres://…@db:5432/web"`}, hint: "logs --previous", effect: lasting},
	"crash-first":                {reason: v1.ReasonContainerCrashed, words: []string{"exit code 1: no licence"}, hint: "logs", effect: passing}, //nolint:misspell // as recorded
	"crash-panic":                {reason: v1.ReasonContainerCrashed, words: []string{"exit code 2: panic: no database"}, hint: "logs", effect: lasting},
	"crash-without-fault":        {reason: v1.ReasonContainerCrashed, words: []string{"exited with code 0"}, hint: "foreground", effect: lasting},
	"crash-of-an-init-container": {reason: v1.ReasonContainerCrashed, words: []string{`init container "migrate"`, "table users exists"}, hint: "logs", effect: lasting},
	"crash-out-of-memory":        {reason: v1.ReasonOutOfMemory, words: []string{"its limit of 32Mi"}, hint: "limits.memory", effect: lasting},
	"start-no-program":           {reason: v1.ReasonContainerStartFailed, words: []string{`program "server" does not exist`}, hint: "spec.command", effect: lasting},
	"start-no-file":              {reason: v1.ReasonContainerStartFailed, words: []string{`program "/bin/sh" does not exist`}, hint: "spec.command", effect: lasting},

	"probe-startup":                   {reason: v1.ReasonStartupProbeFailing, words: []string{"GET :8080/up", "HTTP status 500"}, hint: "failureThreshold", effect: lasting},
	"probe-startup-within-its-time":   {reason: v1.ReasonStartupProbeFailing, words: []string{"GET :8080/up", "HTTP status 500"}, hint: "failureThreshold", effect: passing},
	"probe-liveness":                  {reason: v1.ReasonLivenessProbeFailing, words: []string{"GET :8080/slow", "no response in time"}, hint: "probes.liveness", effect: lasting},
	"probe-readiness-status":          {reason: v1.ReasonReadinessProbeFailing, words: []string{"GET :8080/healthz", "HTTP status 404"}, hint: "probes.readiness", effect: lasting},
	"probe-readiness-refused":         {reason: v1.ReasonReadinessProbeFailing, words: []string{"TCP :9090", "nothing listens"}, hint: "{none: true}", effect: lasting},
	"probe-readiness-timeout":         {reason: v1.ReasonReadinessProbeFailing, words: []string{"no response in time"}, hint: "probes.readiness", effect: lasting},
	"probe-readiness-within-its-time": {reason: v1.ReasonReadinessProbeFailing, words: []string{"HTTP status 503"}, hint: "probes.startup", effect: passing},

	"missing-configmap":             {reason: v1.ReasonDependencyMissing, words: []string{`ConfigMap "settings" does not exist`, `container "app"`}, hint: "create the missing object", effect: lasting},
	"missing-secret":                {reason: v1.ReasonDependencyMissing, words: []string{`Secret "database" does not exist`}, hint: "create the missing object", effect: lasting},
	"missing-key":                   {reason: v1.ReasonDependencyMissing, words: []string{`Secret "database" has no key "url"`}, hint: "create the missing object", effect: lasting},
	"missing-configmap-of-a-volume": {reason: v1.ReasonDependencyMissing, words: []string{`ConfigMap "settings" does not exist`, `volume "settings"`}, hint: "create the missing object", effect: lasting},
	"missing-key-of-a-volume":       {reason: v1.ReasonDependencyMissing, words: []string{`no key "app.yaml"`}, hint: "create the missing object", effect: lasting},
	"missing-service-account":       {reason: v1.ReasonDependencyMissing, words: []string{`ServiceAccount "robot" does not exist`}, hint: "create the missing object", effect: lasting},
	"runs-as-root":                  {reason: v1.ReasonContainerConfigInvalid, words: []string{"must not run as root"}, hint: "runAsUser", effect: lasting},

	"unschedulable-cpu":            {reason: v1.ReasonUnschedulable, words: []string{"no node can run the pod: the only node has too little cpu left"}, hint: "requests", effect: lasting},
	"unschedulable-selector":       {reason: v1.ReasonUnschedulable, words: []string{"match spec.nodeSelector"}, hint: "nodeSelector", effect: lasting},
	"unschedulable-at-first":       {reason: v1.ReasonUnschedulable, words: []string{"match spec.nodeSelector"}, hint: "nodeSelector", effect: passing},
	"unschedulable-port":           {reason: v1.ReasonUnschedulable, words: []string{"no such host port free"}, hint: "nodes", effect: lasting},
	"volume-without-class":         {reason: v1.ReasonVolumeNotBound, words: []string{`PersistentVolumeClaim "data"`, "has no default"}, hint: "storageClassName", effect: lasting},
	"volume-of-a-missing-class":    {reason: v1.ReasonVolumeNotBound, words: []string{`StorageClass "fast" does not exist`}, hint: "storageClassName", effect: lasting},
	"volume-not-provisioned":       {reason: v1.ReasonVolumeNotBound, words: []string{"provisioner"}, hint: "provisioner", effect: lasting},
	"volume-claim-missing":         {reason: v1.ReasonDependencyMissing, words: []string{`PersistentVolumeClaim "data" does not exist`}, hint: "create the missing object", effect: lasting},
	"volume-not-mounted":           {reason: v1.ReasonVolumeNotMounted, words: []string{`volume "data" cannot be mounted`, "is not a directory"}, hint: "describe pod", effect: lasting},
	"quota-used-up":                {reason: v1.ReasonQuotaExceeded, words: []string{`ResourceQuota "team" is used up`, "0 of 0 pods are used, a pod requests 1"}, hint: "quota", effect: lasting},
	"quota-wants-limits":           {reason: v1.ReasonQuotaExceeded, words: []string{`ResourceQuota "team"`, "limits.memory"}, hint: "spec.resources", effect: lasting},
	"pod-security":                 {reason: v1.ReasonPodSecurityViolation, words: []string{`level "restricted"`, "allowPrivilegeEscalation"}, hint: "spec.security", effect: lasting},
	"admission-policy":             {reason: v1.ReasonAdmissionDenied, words: []string{`ValidatingAdmissionPolicy "recorded-no-latest"`, "every container needs limits"}, hint: "who set the rule", effect: lasting},
	"admission-webhook-away":       {reason: v1.ReasonAdmissionDenied, words: []string{`webhook "guard.example.com" does not respond`}, hint: "platform team", effect: lasting},
	"limit-range":                  {reason: v1.ReasonAdmissionDenied, words: []string{"LimitRange", "64Mi"}, hint: "describe limitrange", effect: lasting},
	"priority-class-missing":       {reason: v1.ReasonDependencyMissing, words: []string{`PriorityClass "urgent"`}, hint: "get priorityclass", effect: lasting},
	"progress-deadline":            {reason: v1.ReasonRolloutStalled, words: []string{"progress deadline"}, hint: "progressDeadlineSeconds", effect: lasting},
	"autoscaling-without-metrics":  {reason: v1.ReasonAutoscalingMetricsMissing, words: []string{"metrics-server"}, hint: "metrics-server", effect: advice},
	"autoscaling-without-requests": {reason: v1.ReasonAutoscalingRequestMissing, words: []string{`container "app" has no memory`}, hint: "spec.resources.requests", effect: lasting},
	"ingress-without-class":        {reason: v1.ReasonIngressClassMissing, words: []string{"has no class"}, hint: "className", effect: advice},
	"well":                         {},
}

func TestRecorded(t *testing.T) {
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			recorded := load(t, name)
			out := recorded.summary(t)
			ready := meta.FindStatusCondition(out.Conditions, v1.ConditionReady)
			stalled := meta.FindStatusCondition(out.Conditions, v1.ConditionStalled)
			if row.reason == "" {
				if len(out.Problems) > 0 || ready.Reason != v1.ReasonRunning {
					t.Errorf("got %s %q and the problems %+v, want none", ready.Reason, ready.Message, out.Problems)
				}
				return
			}
			at := slices.IndexFunc(out.Problems, func(p v1.Problem) bool { return p.Reason == row.reason })
			require.GreaterOrEqual(t, at, 0, "got %s %q and the problems %+v, want %s", ready.Reason, ready.Message, out.Problems, row.reason)
			problem, message := out.Problems[at], ready.Message
			if row.effect == advice {
				message = problem.Message
			}
			for _, words := range row.words {
				assert.Contains(t, message, words, "the message lacks %q: %s", words, message)
			}
			assert.Contains(t, problem.Hint, row.hint, "the hint lacks %q: %s", row.hint, problem.Hint)
			if got := string(stalled.Status) == "True"; got != (row.effect == lasting) {
				t.Errorf("Stalled is %s (%s: %s)", stalled.Status, stalled.Reason, stalled.Message)
			}
			if row.effect == lasting && ready.Reason != row.reason {
				t.Errorf("got the reason %s of Ready, want %s", ready.Reason, row.reason)
			}
			if kind := (map[bool]v1.ProblemType{true: v1.ProblemError, false: v1.ProblemWarning})[row.effect == lasting]; problem.Type != kind {
				t.Errorf("the problem is of type %s, want %s", problem.Type, kind)
			}
			if row.serves && out.Phase != v1.PhaseDegraded {
				t.Errorf("got phase %s, serves: %t", out.Phase, row.serves)
			}
			if length := utf8.RuneCountInString(message); length > 256 {
				t.Errorf("the message has %d characters", length)
			}
		})
	}
}

// The same findings in another order, and a little later, have the same message.
func TestCausesAreStable(t *testing.T) {
	for name := range rows {
		t.Run(name, func(t *testing.T) {
			findings := load(t, name).findings(t)
			before := diagnose.Causes(findings)
			slices.Reverse(findings.Pods)
			slices.Reverse(findings.Events)
			slices.Reverse(findings.ReplicaSets)
			after := diagnose.Causes(findings)
			require.Len(t, before, len(after), "got %d causes, then %d", len(before), len(after))
			for i := range before {
				assert.EqualValues(t, after[i].Text(), before[i].Text(), "got %q, then %q", before[i].Text(), after[i].Text())
			}
		})
	}
}
