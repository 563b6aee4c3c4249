package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/try"
)

// byHand are objects that no operator made: a StatefulSet with claims of names of its own, whose folders on the node are root's,
// and its Service.
const byHand = `
apiVersion: v1
kind: Service
metadata: {name: kept-before}
spec: {type: NodePort, selector: {app: kept-before}, ports: [{port: 80, targetPort: http, nodePort: 30007}]}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: kept-before}
spec:
  replicas: 1
  serviceName: kept-before
  selector: {matchLabels: {app: kept-before}}
  template:
    metadata: {labels: {app: kept-before}}
    spec:
      containers:
      - name: db
        image: ` + oldTag + `
        env: [{name: KEEP, value: "/pg/started:/wal/started"}]
        ports: [{containerPort: 8080, name: http}]
        securityContext: {runAsUser: 0}
        volumeMounts: [{name: pgdata, mountPath: /pg}, {name: wal, mountPath: /wal}]
  volumeClaimTemplates:
  - metadata: {name: wal}
    spec: {storageClassName: appservice-e2e-adopted, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Mi}}}
  - metadata: {name: pgdata}
    spec: {storageClassName: appservice-e2e-adopted, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Mi}}}
`

// adoptData imports and adopts a StatefulSet with two claims as docs/migrating.md says, and sets another image.
func adoptData(ctx context.Context, s *suite) {
	var made []client.Object
	for _, claim := range []string{"pgdata-kept-before-0", "wal-kept-before-0"} {
		made = append(made, s.makeClaimable(ctx, claim, apps+"-adopted")...)
	}
	manifest, file := filepath.Join(s.folder, "by-hand.yaml"), filepath.Join(s.folder, "imported.yaml")
	try.Do(os.WriteFile(manifest, []byte(byHand), 0o600))
	try.Do(s.command(ctx, "kubectl", "apply", "--namespace="+apps, "--filename="+manifest))
	app := web(apps, "kept-before", keptPort)
	app.Spec.Size = ptr.To[int32](1)
	before, set := s.answers(ctx, app), s.statefulSet(ctx, app)
	if text := before["kept-before-0"]; strings.Count(text, "kept-before-0@") != 2 {
		try.Fail("the replica answers %v, which is not what two volumes hold", before)
	}
	program := "go run ./cmd/kubectl-appservice "
	try.Do(s.command(ctx, "sh", "-c", program+"import --namespace="+apps+" statefulset/kept-before > "+file))
	try.Do(s.command(ctx, "sh", "-c", program+"adopt --namespace="+apps+" --restart --yes --filename="+file))
	s.untilReady(ctx, app)
	s.answersAs(ctx, app, before)
	s.change(ctx, app, func() { app.Spec.Image = newTag })
	s.untilReady(ctx, app)
	s.untilOnly(ctx, app, newTag)
	s.answersAs(ctx, app, before)
	if now := s.statefulSet(ctx, app); now.UID != set.UID {
		try.Fail("StatefulSet %s is another one", now.Name)
	}
	s.endKept(ctx, app, made)
}

// statefulSet is that of an application.
func (s *suite) statefulSet(ctx context.Context, app *v1.AppService) *appsv1.StatefulSet {
	set := &appsv1.StatefulSet{}
	try.Do(s.client.Get(ctx, client.ObjectKeyFromObject(app), set))
	return set
}
