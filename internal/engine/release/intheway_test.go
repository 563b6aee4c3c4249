package release

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/example/appservice-operator/internal/engine/kube"
)

// The remedy depends on the data of an object: no message says to delete data.
func TestTheRemedyKeepsWhatAnObjectHolds(t *testing.T) {
	owner := parsed(t, `{apiVersion: app.example.com/v1, kind: AppService, metadata: {name: web, namespace: shop, uid: mine}}`)
	const adopts = "kubectl annotate appservice web --namespace=shop app.example.com/adopt=true; to delete it deletes its data"
	for name, test := range map[string]struct{ object, want string }{
		"a claim that an earlier resource left": {
			`{kind: PersistentVolumeClaim, metadata: {name: web, labels: {app.example.com/owner-uid: earlier}, annotations: {app.example.com/retained-for: web}}}`, adopts,
		},
		"a claim that nobody marked": {`{kind: PersistentVolumeClaim, metadata: {name: data-web-0}}`, adopts},
		"a claim of another resource": {
			`{kind: PersistentVolumeClaim, metadata: {name: data-db-web-0, labels: {app.example.com/owner-uid: other}, annotations: {app.example.com/retained-for: db-web}}}`,
			"give this AppService or its claim another name, or ask for fewer replicas: the claim has the data of db-web",
		},
		"generated values that an earlier resource left": {
			`{kind: Secret, metadata: {name: web-generated, namespace: shop, labels: {app.example.com/managed: "true"}, annotations: {app.example.com/rendered: a, ` +
				`meta.helm.sh/release-name: web, meta.helm.sh/release-namespace: shop}}}`, adopts,
		},
		"an object that another one controls": {
			`{kind: Secret, metadata: {name: web, ownerReferences: [{apiVersion: a/v1, kind: Database, name: db, controller: true}]}}`, "give this AppService another name: Database db needs that object",
		},
		"an object of anyone": {`{kind: ConfigMap, metadata: {name: web-config}}`, ""}, // that of the reason
	} {
		t.Run(name, func(t *testing.T) {
			object := parsed(t, `{apiVersion: v1, `+test.object[1:])
			var found *NotOursError
			require.ErrorAs(t, inTheWay(owner, kube.KeyOf(object), object), &found)
			assert.Contains(t, found.Hint(), test.want)
			if test.want == "" {
				assert.Empty(t, found.Hint())
			}
		})
	}
}

func TestAllObjectsInTheWayAreKnown(t *testing.T) {
	var list []*NotOursError
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		list = append(list, &NotOursError{Key: kube.Key{Name: name}, Owner: "here", Remedy: "ask " + name[:1]})
	}
	list[1].Remedy = "ask a"
	all := errors.Join(allOf(list))
	assert.EqualError(t, all, ` "a" exists and is here;  "b" exists and is here;  "c" exists and is here; and 2 more`)
	found, _ := errors.AsType[*NotOursError](all)
	assert.Len(t, found.Parts(), 5)
	assert.Equal(t, "ask a; ask c; ask d; ask e", found.Hint())
	require.NoError(t, allOf(nil))
}
