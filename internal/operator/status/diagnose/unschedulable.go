package diagnose

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/example/appservice-operator/api/v1"
)

// schedulingPatience is how long a pod may wait for a node before that is reported as lasting: nodes that are about to
// be added, or pods that are about to end, may solve it.
const schedulingPatience = 10 * time.Second

// scheduling returns why a pod has no node.
func scheduling(f Findings, pod *corev1.Pod, scheduled *corev1.PodCondition) []Cause {
	if scheduled.Reason != corev1.PodReasonUnschedulable {
		return nil // held by a scheduling gate, or the scheduler is in trouble
	}
	if aboutVolumes(scheduled.Message) {
		if causes := unbound(f, pod); len(causes) > 0 {
			return causes
		}
	}
	cause := Cause{
		Reason: v1.ReasonUnschedulable, Source: "scheduler", Message: "no node can run the pod", Effect: Passing,
		Detail: nodes(scheduled.Message), Until: scheduled.LastTransitionTime.Add(schedulingPatience),
	}
	if len(f.eventsOf(pod.UID, "TriggeredScaleUp")) > 0 {
		cause.Message, cause.Until = "no node can run the pod yet, and the cluster is adding one", time.Time{}
	}
	return []Cause{cause}
}

// obstacle is one reason why the scheduler rejects nodes, as what nodes do: "have too little cpu left".
type obstacle struct {
	words *regexp.Regexp
	plain string
}

// obstacles match the scheduler's reasons after the number of nodes; the first match counts.
var obstacles = []obstacle{
	{regexp.MustCompile(`^Insufficient (\S+)$`), "have too little ${1} left"},
	{regexp.MustCompile(`^Too many pods$`), "are at the pod limit"},
	{regexp.MustCompile(`had untolerated taint\(?s?\)?(?: \{([^:}]+)[^}]*\})`),
		"have the taint ${1}, which spec.tolerations does not name"},
	{regexp.MustCompile(`had untolerated taint`), "have a taint that spec.tolerations does not name"},
	{regexp.MustCompile(`didn't match Pod's node affinity/selector`), "do not match spec.nodeSelector or spec.affinity"},
	{regexp.MustCompile(`didn't match pod (?:anti-affinity|affinity)|existing pods anti-affinity`),
		"do not satisfy the pod (anti-)affinity of spec.affinity"},
	{regexp.MustCompile(`didn't match pod topology spread constraints`),
		"have more of these pods than spec.topologySpreadConstraints allows"},
	{regexp.MustCompile(`were unschedulable`), "are closed for new pods (cordoned)"},
	{regexp.MustCompile(`didn't have free ports`), "have no such host port free"},
	{regexp.MustCompile(`volume node affinity conflict`), "cannot reach the volume (it is on another node or in another zone)"},
	{regexp.MustCompile(`exceed max volume count`), "are at the volume limit"},
	{regexp.MustCompile(`didn't find available persistent volumes to bind`), "have no volume for the claim"},
	{regexp.MustCompile(`were not ready|not-ready|unreachable`), "are not ready"},
}

// singular has the verbs of obstacles for one node.
var singular = map[string]string{"have": "has", "are": "is", "do": "does", "run": "runs"}

var (
	allNodes = regexp.MustCompile(`^0/(\d+) nodes are available: `)
	counted  = regexp.MustCompile(`^(\d+) (.+)$`)
)

// nodes rewrites the scheduler's message about nodes in plain words: "2 of 3 nodes have too little cpu left".
func nodes(message string) string {
	message, _, _ = strings.Cut(message, ". ") // what follows is about preemption
	if strings.HasPrefix(message, "no nodes available") {
		return "the cluster has no nodes"
	}
	found := allNodes.FindStringSubmatch(message)
	if found == nil {
		return Brief(message)
	}
	var parts []string
	for part := range strings.SplitSeq(strings.TrimRight(message[len(found[0]):], ". "), ", ") {
		match := counted.FindStringSubmatch(part)
		if match == nil {
			parts = append(parts, part)
			continue
		}
		parts = append(parts, tell(match[1], found[1], match[2]))
	}
	return Brief(strings.Join(parts, "; "))
}

func tell(count, of, what string) string {
	for _, obstacle := range obstacles {
		at := obstacle.words.FindStringSubmatchIndex(what)
		if at == nil {
			continue
		}
		plain := string(obstacle.words.ExpandString(nil, obstacle.plain, what, at))
		one, rest, _ := strings.Cut(plain, " ")
		one = cmp.Or(singular[one], one) + " " + rest
		switch number, _ := strconv.Atoi(count); {
		case of == "1":
			return "the only node " + one
		case number == 1:
			return fmt.Sprintf("1 of %s nodes %s", of, one)
		case count == of:
			return fmt.Sprintf("all %s nodes %s", of, plain)
		}
		return fmt.Sprintf("%s of %s nodes %s", count, of, plain)
	}
	return count + " " + what
}
