package livestate

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
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
	// Ready says that the release is one again that was Ready, or was Ready itself, by an earlier operator.
	Ready bool
	// LastReady is the revision of the newest release that was Ready when this one was recorded, 0 for none; empty if
	// that is not known.
	LastReady string
	// ReturnedFrom identifies what failed before the release was applied again; empty if nothing did.
	ReturnedFrom string
	Made         time.Time
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
	if object.GetLabels()["owner"] != "helm" || !strings.HasPrefix(object.GetName(), RecordPrefix) {
		return false
	}
	if secret, typed := object.(*corev1.Secret); typed { // those of a typed list do not say their kind
		return secret.Type == RecordType
	}
	untyped, ok := object.(*unstructured.Unstructured)
	return object.GetObjectKind().GroupVersionKind().GroupKind() == kube.SecretKind.GroupKind() &&
		(!ok || untyped.Object["type"] == RecordType)
}

// RecordName is the name of the record of a release.
func RecordName(release string, revision int) string {
	return fmt.Sprintf("%s%s.v%d", RecordPrefix, release, revision)
}

// RecordOf returns what a Secret says of a release of a resource; nil unless it has all the marks of a record that the
// operator wrote for that very resource. Anyone who may write Secrets can write most of them, and everyone who may read
// the resource knows its UID: an admission policy protects the Secrets that have all.
func RecordOf(resource, object client.Object) *Record {
	controller := metav1.GetControllerOfNoCopy(object)
	if !IsRecord(object) || object.GetLabels()[v1.LabelManaged] == "" ||
		object.GetNamespace() != resource.GetNamespace() || controller == nil ||
		controller.UID != resource.GetUID() || controller.Name != resource.GetName() ||
		!kube.OfKind(controller, resource.GetObjectKind().GroupVersionKind().GroupKind()) {
		return nil
	}
	record := recordOf(object)
	if record == nil || record.Name != RecordName(resource.GetName(), record.Revision) {
		return nil
	}
	return record
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
		Ready: labels[v1.LabelReady] == "true", LastReady: labels[v1.LabelLastReady], ReturnedFrom: labels[v1.LabelReturnedFrom],
		Made: object.GetCreationTimestamp().Time,
	}
}
