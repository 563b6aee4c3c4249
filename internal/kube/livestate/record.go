package livestate

import (
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/kube"
)

// Record is the content of the labels of a release Secret.
type Record struct {
	Name     string // of the Secret, as its UID and version
	UID      types.UID
	Version  string
	Revision int
	Status   string // one of Helm's release statuses
	Digest   string
	Chart    string
	// ChartDigest identifies the files of the chart; empty in records of earlier operators.
	ChartDigest string
	// RenderedBy identifies the chart and the operator that rendered it.
	RenderedBy string
	// Defaults identifies the defaults of the namespace that it was rendered with; empty for none.
	Defaults string
	// References identifies the content of what its pods refer to; empty if they take none.
	References string
	// Rollout describes a rollout that its user did not ask for; empty if it is over, or if there was none.
	Rollout string
	Made    time.Time
}

// statusSuperseded is Helm's status of a release that was followed by another one.
const statusSuperseded = "superseded"

// ShortDigest returns the beginning of a digest, for people.
func ShortDigest(digest string) string { return digest[:min(len(digest), 12)] }

// RecordPrefix is the common prefix of the names of release records.
const RecordPrefix = "sh.helm.release.v1."

// RecordType is the type of the Secrets in which Helm 3 stores releases.
const RecordType = "helm.sh/release.v1"

// IsRecord reports whether an object is a release record rather than a rendered Secret. The type of a Secret is not
// part of its metadata.
func IsRecord(object client.Object) bool {
	if object.GetObjectKind().GroupVersionKind().GroupKind() != kube.SecretKind.GroupKind() ||
		object.GetLabels()["owner"] != "helm" || !strings.HasPrefix(object.GetName(), RecordPrefix) {
		return false
	}
	whole, ok := object.(*unstructured.Unstructured)
	return !ok || whole.Object["type"] == RecordType
}

func recordOf(object client.Object) *Record {
	labels := object.GetLabels()
	version := labels["version"]
	if version == "" && labels["status"] == statusSuperseded { // the caches keep no more of it: kube.Transform
		version = object.GetName()[strings.LastIndex(object.GetName(), ".v")+len(".v"):]
	}
	revision, err := strconv.Atoi(version)
	if err != nil {
		return nil
	}
	return &Record{
		Name: object.GetName(), UID: object.GetUID(), Version: object.GetResourceVersion(), Revision: revision,
		Status: labels["status"], Digest: labels[v1.LabelDigest],
		Chart: labels[v1.LabelChartVersion], ChartDigest: labels[v1.LabelChartDigest], RenderedBy: labels[v1.LabelRenderedBy],
		Defaults: labels[v1.LabelDefaults], References: labels[v1.LabelReferences], Rollout: labels[v1.LabelRollout],
		Made: object.GetCreationTimestamp().Time,
	}
}
