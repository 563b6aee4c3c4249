package main

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/try"
)

// bothPolicies has an application refused by the policy shared, which no file chooses, run under open, and continue to run under shared.
func bothPolicies(ctx context.Context, s *suite) {
	app := web(apps, "policed", 0)
	app.Spec.PodLabels = map[string]v1.Label{"velero.io/exclude-from-backup": "true"}
	refused := wanted{kind: v1.ConditionReady, status: metav1.ConditionFalse, reasons: []string{v1.ReasonPolicyViolation}, message: "built-in policy shared"}
	try.Do(s.client.Create(ctx, app))
	s.until(ctx, app, refused)

	file := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: operatorNamespace, Name: "appservice-policy"}}
	file.Data = map[string]string{"policy.yaml": "builtIn: open\n"}
	try.Do(s.client.Create(ctx, file))
	s.untilReady(ctx, app) // once the kubelet has mounted the file
	if app.Status.Policy != "open" {
		try.Fail("the status says that the policy is %q", app.Status.Policy)
	}

	s.change(ctx, file, func() { file.Data["policy.yaml"] = "builtIn: shared\n" })
	s.until(ctx, app, refused)
	if pods := try.Get(s.podsByName(ctx, app)); len(pods) != int(*app.Spec.Size) {
		try.Fail("there are pods %v: what runs has to go on", pods)
	}
	try.Do(s.client.Delete(ctx, app))
	try.Do(s.client.Delete(ctx, file))
}
