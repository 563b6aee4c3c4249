package plan

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/text"
)

// redacted returns the values of a field for events, logs, conditions and the history, which more people read than the
// objects: nothing unless both are harmless.
func redacted(object client.Object, field string, old, rendered any) (string, string) {
	if !mayBeShown(object, field, old, rendered) {
		return "", ""
	}
	return brief(old), brief(rendered)
}

func mayBeShown(object client.Object, field string, old, rendered any) bool {
	return !scalar(old) && !scalar(rendered) || harmless(object, field, old) && harmless(object, field, rendered)
}

// harmless reports whether a value may be shown. Free texts may hold a password, so only texts of known fields are.
func harmless(object client.Object, field string, value any) bool {
	if secretive(object, field) {
		return false
	}
	_, isText := value.(string)
	return !isText || showable.MatchString(items.ReplaceAllString(field, ""))
}

// items matches the keys of list items in a path.
var items = regexp.MustCompile(`\[[^\]]*\]`)

// showable matches the fields whose texts are shown: of objects, of the specs of our kinds, and of values. Names and
// selectors, types, numbers with a unit, images, ports, hosts.
var showable = regexp.MustCompile(`^(?:` + strings.Join([]string{
	pods + `|)metadata\.labels\..+`,
	pods + `spec\.|spec\.|values\.)(?:` + strings.Join([]string{
		`(?:(?:init)?[cC]ontainers\.|sidecars\.|)(?:image|imagePullPolicy|resources\.(?:limits|requests)\..+)`,
		`(?:(?:init)?[cC]ontainers\.|sidecars\.|)ports\.(?:name|protocol|appProtocol|targetPort)`,
		`(?:init)?[cC]ontainers\.(?:liveness|readiness|startup)Probe\.(?:httpGet|tcpSocket)\.(?:port|scheme)`,
		`probes\.(?:liveness|readiness|startup)\.(?:httpGet|tcpSocket)\.(?:port|scheme)`,
		`(?:restartPolicy|dnsPolicy|hostname|subdomain|serviceAccount(?:Name)?|nodeName|nodeSelector\..+|\w*[cC]lassName|schedulerName)`,
		`tolerations\.(?:key|operator|effect)`,
		`topologySpreadConstraints\.(?:topologyKey|whenUnsatisfiable)`,
	}, "|") + `)`,
	`spec\.(?:` + strings.Join([]string{
		`type|size|ttl|schedule|timeZone|concurrencyPolicy|podManagementPolicy|clusterIP|externalName|serviceName|sessionAffinity`,
		`(?:internal|external)TrafficPolicy|ipFamily\w+|ipFamilies|loadBalancerSourceRanges|service\.type`,
		`\w*[sS]trategy\..+|(?:min|max)\w*|podDisruptionBudget\.\w+|persistentVolumeClaimRetentionPolicy\.\w+`,
		`(?:ingress\.|)(?:hosts|rules)\.host|(?:route\.|)hostnames|(?:ingress\.|)tls\.(?:hosts|secretName)`,
		`rules\.http\.paths\.(?:pathType|backend\.service\.(?:name|port\.name))|ingress\.hosts\.paths\.pathType`,
		`(?:route\.|)parentRefs\.(?:name|namespace|sectionName)|rules\.backendRefs\.name`,
		`scaleTargetRef\.\w+|metrics\.(?:type|resource\.(?:name|target\.\w+))|triggers\.type`,
		`(?:volumeClaimTemplates\.spec\.|persistence\.|)(?:storageClassName|volumeName|volumeMode|accessModes|size)`,
		`volumeClaimTemplates\.spec\.resources\.requests\.storage`,
		`(?:selector|podSelector)\..+|(?:ingress|egress)\.(?:from|to)\.\w+Selector\..+`,
		`(?:ingress|egress)\.(?:ports\.(?:port|protocol)|(?:from|to)\.ipBlock\.(?:cidr|except))`,
		`endpoints\.(?:port|targetPort|path|interval|scheme)|monitoring\.(?:path|interval)|autoscaling\.triggers\.type`,
	}, "|") + `)`,
}, "|") + `)$`)

// pods begins the group of paths that are those of a pod template, or of an object.
const pods = `(?:(?:spec\.(?:jobTemplate\.spec\.)?template\.|spec\.podTemplate\.)`

// brief formats a value for an event: scalars as they are, anything larger as its kind.
func brief(value any) string {
	switch value := value.(type) {
	case nil:
		return "(none)"
	case map[string]any:
		return "(object)"
	case []any:
		return fmt.Sprintf("(%d items)", len(value))
	}
	line := text.Line(fmt.Sprint(value))
	if runes := []rune(line); len(runes) > 40 {
		line = string(runes[:40]) + "…"
	}
	return line
}

// secretive reports whether a field may hold data that must not appear in events and logs.
func secretive(object client.Object, field string) bool {
	kind := object.GetObjectKind().GroupVersionKind().GroupKind()
	if kind == kube.SecretKind.GroupKind() || kube.TraitsOf(kind).Payload && !strings.HasPrefix(field, "metadata.") {
		return true
	}
	return slices.ContainsFunc([]string{".env[", ".args", ".command", ".httpHeaders"},
		func(part string) bool { return strings.Contains(field, part) })
}

func scalar(value any) bool {
	switch value.(type) {
	case nil, map[string]any, []any:
		return false
	}
	return true
}
