package plan

import (
	"reflect"
	"strings"

	"github.com/example/appservice-operator/internal/engine/kube"
)

// implied reports whether a value at a path of a pod template, or of the ports of a Service, that is not rendered may
// be there all the same: a default of the API server, what it allocates, or a request to restart. A
// default that is missing here costs one dry run of the object, whenever it has changed.
func implied(path string, value any) bool {
	switch value := value.(type) {
	case nil:
		return true
	case string:
		if value == "" || isRestart(path, value) {
			return true
		}
	case map[string]any:
		for key, below := range value {
			if !implied(path+"."+key, below) {
				return false
			}
		}
		return true
	case []any:
		return len(value) == 0
	}
	for _, known := range defaults {
		if strings.HasSuffix(path, known.path) && (known.value == nil || equalScalars(known.value, value)) {
			return true
		}
	}
	return false
}

// isRestart reports whether a value at a path of a pod template is a request to restart its pods.
func isRestart(path string, value any) bool {
	_, annotation, is := strings.Cut(path, ".metadata.annotations.")
	text, isText := value.(string)
	return is && isText && kube.IsRestart(annotation, text)
}

// defaults are values that the API server sets, by the end of their path; nil for any value.
var defaults = []struct {
	path  string
	value any
}{
	{".spec.restartPolicy", "Always"},
	{".spec.terminationGracePeriodSeconds", int64(30)},
	{".spec.dnsPolicy", "ClusterFirst"},
	{".spec.schedulerName", "default-scheduler"},
	{".spec.serviceAccount", nil}, // the former name of serviceAccountName, always the same
	{".imagePullPolicy", "Always"},
	{".imagePullPolicy", "IfNotPresent"},
	{".terminationMessagePath", "/dev/termination-log"},
	{".terminationMessagePolicy", "File"},
	{".protocol", "TCP"},
	{".timeoutSeconds", int64(1)},
	{".periodSeconds", int64(10)},
	{".successThreshold", int64(1)},
	{".failureThreshold", int64(3)},
	{".httpGet.scheme", "HTTP"},
	{".httpGet.path", "/"},
	{".fieldRef.apiVersion", "v1"},
	{".resourceFieldRef.divisor", "0"},
	{".defaultMode", int64(420)},
	{".expirationSeconds", int64(3600)},
	{".volumeMode", "Filesystem"},
	{".pullPolicy", "Always"},
	{".pullPolicy", "IfNotPresent"},
	{"].nodePort", nil}, // allocated
}

// equalScalars compares as JSON does: 1 and 1.0 are the same number.
func equalScalars(a, b any) bool {
	if reflect.DeepEqual(a, b) {
		return true
	}
	x, floatX, okX := number(a)
	y, floatY, okY := number(b)
	return okX && okY && (floatX || floatY) && x == y
}

func number(value any) (number float64, isFloat, ok bool) {
	switch value := value.(type) {
	case int64:
		return float64(value), false, true
	case float64:
		return value, true, true
	}
	return 0, false, false
}
