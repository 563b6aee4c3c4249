package diagnose

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	v1 "github.com/example/appservice-operator/api/v1"
)

// creation returns why the cluster refuses to create pods, if it does.
func creation(f Findings) []Cause {
	message, refused := f.Workload.refusal(&f)
	if !refused {
		return nil
	}
	message = attempt.ReplaceAllString(message, "")
	cause := Cause{Reason: v1.ReasonReplicaFailure, Source: "pods", Message: "pods cannot be created", Effect: Lasting}
	for _, known := range refusals {
		if found := known.words.FindStringSubmatch(message); found != nil {
			cause.Reason = known.reason
			known.tell(&cause, found)
			return []Cause{cause}
		}
	}
	cause.Detail = Brief(forbidden.ReplaceAllString(message, ""))
	if w := f.Workload; !w.sets {
		cause.Hint = fmt.Sprintf("see kubectl describe %s %s", strings.ToLower(w.Kind), w.Name)
	}
	return []Cause{cause}
}

// usage returns for each resource what an object requests and what is used, all given as "cpu=1,pods=2".
func usage(object, requested, used, limited string) string {
	of := func(list, resource string) string {
		for item := range strings.SplitSeq(list, ",") {
			if name, amount, _ := strings.Cut(item, "="); name == resource {
				return amount
			}
		}
		return "?"
	}
	var parts []string
	for item := range strings.SplitSeq(requested, ",") {
		resource, amount, _ := strings.Cut(item, "=")
		parts = append(parts, fmt.Sprintf("%s of %s %s are used, %s requests %s", of(used, resource),
			of(limited, resource), resource, object, amount))
	}
	return strings.Join(parts, "; ")
}

// refusedBeforePods are objects that are created before pods, by their resource.
var refusedBeforePods = map[string]string{
	"replicasets.apps":       "the ReplicaSet of a new version",
	"persistentvolumeclaims": "the claim of a replica",
}

// attempt matches the prefix that controllers put before the API server's message, in events.
var attempt = regexp.MustCompile(`^(?:\(combined from similar events\): )?(?:[Cc]reate (?:Pod|Claim) .* in StatefulSet \S+ failed error|Error creating|Failed to create new replica set "[^"]*"): `)

var forbidden = regexp.MustCompile(`^pods "[^"]*" is forbidden: `)

// refusals match the API server's admission messages about pods; the first match counts.
var refusals = []struct {
	words  *regexp.Regexp
	reason string
	tell   func(cause *Cause, found []string)
}{
	{regexp.MustCompile(`^(?:(\S+) .*)?exceeded quota: ([^,]+), requested: (.+), used: (.+), limited: (.+)$`),
		v1.ReasonQuotaExceeded, func(c *Cause, found []string) {
			c.Source = "ResourceQuota " + found[2]
			c.Message = fmt.Sprintf("no more pods: ResourceQuota %q is used up", found[2])
			object, isOther := refusedBeforePods[found[1]]
			if isOther {
				c.Hint = "ask for a larger quota, or delete objects that are not needed"
			}
			c.Detail = Brief(usage(cmp.Or(object, "a pod"), found[3], found[4], found[5]))
		}},
	{regexp.MustCompile(`failed quota: ([^:]+): must specify (.+)$`), v1.ReasonQuotaExceeded,
		func(c *Cause, found []string) {
			c.Source = "ResourceQuota " + found[1]
			c.Message = fmt.Sprintf("no pods: ResourceQuota %q requires every container to set requests or limits", found[1])
			c.Detail = Brief("missing: " + found[2])
			c.Hint = "set these in spec.resources, and in sidecars and initContainers"
		}},
	{regexp.MustCompile(`violates PodSecurity "([^"]+)": (.+)$`), v1.ReasonPodSecurityViolation,
		func(c *Cause, found []string) {
			level, _, _ := strings.Cut(found[1], ":")
			c.Source = "Pod Security"
			c.Message = fmt.Sprintf("no pods: the namespace enforces Pod Security level %q", level)
			c.Detail = Brief(found[2])
		}},
	{regexp.MustCompile(`admission webhook "([^"]+)" denied the request(?: without explanation)?:? ?(.*)$`),
		v1.ReasonAdmissionDenied, func(c *Cause, found []string) {
			c.Source = "admission webhook " + found[1]
			c.Message = fmt.Sprintf("no pods: admission webhook %q refuses them", found[1])
			c.Detail = Brief(found[2])
		}},
	{regexp.MustCompile(`ValidatingAdmissionPolicy '([^']+)' with binding '[^']*' denied request: (.*)$`),
		v1.ReasonAdmissionDenied, func(c *Cause, found []string) {
			c.Source = "ValidatingAdmissionPolicy " + found[1]
			c.Message = fmt.Sprintf("no pods: ValidatingAdmissionPolicy %q refuses them", found[1])
			c.Detail = Brief(found[2])
		}},
	{regexp.MustCompile(`failed calling webhook "([^"]+)"`), v1.ReasonAdmissionDenied, func(c *Cause, found []string) {
		c.Source = "admission webhook " + found[1]
		c.Message = fmt.Sprintf("no pods: admission webhook %q does not respond", found[1])
		c.Hint = "ask the team that runs that webhook, or the platform team: no pod is created until it responds"
	}},
	{regexp.MustCompile(`((?:maximum|minimum) \S+ usage per \w+ is .+|\S+ max limit to request ratio per .+)$`),
		v1.ReasonAdmissionDenied, func(c *Cause, found []string) {
			c.Source = "LimitRange"
			c.Message = "no pods: a LimitRange of the namespace refuses them"
			c.Detail = Brief(found[1])
			c.Hint = "change spec.resources to what the LimitRange allows (kubectl describe limitrange)"
		}},
	{regexp.MustCompile(`^pvc (\S+) is being deleted$`), v1.ReasonDeletionBlocked, func(c *Cause, found []string) {
		c.Source = "PersistentVolumeClaim " + found[1]
		c.Message = fmt.Sprintf("no pod can use PersistentVolumeClaim %q: it is Terminating", found[1])
		c.Hint = fmt.Sprintf("see kubectl describe pvc %s for the finalizer that holds it, and its events", found[1])
	}},
	{regexp.MustCompile(`serviceaccount "([^"]+)" not found`), v1.ReasonDependencyMissing, func(c *Cause, found []string) {
		c.Source = "ServiceAccount " + found[1]
		c.Message = fmt.Sprintf("ServiceAccount %q does not exist, pods need it", found[1])
	}},
	{regexp.MustCompile(`no PriorityClass with name (\S+) was found`), v1.ReasonDependencyMissing,
		func(c *Cause, found []string) {
			c.Source = "PriorityClass " + found[1]
			c.Message = fmt.Sprintf("PriorityClass %q does not exist, pods need it", found[1])
			c.Hint = "use an existing PriorityClass (kubectl get priorityclass), or leave spec.priorityClassName out"
		}},
	{regexp.MustCompile(`is forbidden: (.+)$`), v1.ReasonAdmissionDenied, func(c *Cause, found []string) {
		c.Message, c.Detail = "no pods: the API server refuses them", Brief(found[1])
	}},
}
