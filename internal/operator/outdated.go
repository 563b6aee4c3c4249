package operator

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/chart"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/postrender"
	"github.com/example/appservice-operator/internal/engine/release"
	"github.com/example/appservice-operator/internal/operator/policy"
)

// recordsAtATime is how many records are read at a time: each may have some hundred KiB.
const recordsAtATime = 250

// outdated returns a line for each resource whose recorded release the policy refuses, or Pod Security. Fields that
// only earlier versions allowed stay as they are, and nobody else may begin with them. No namespaces stands for all.
func outdated(ctx context.Context, reader client.Reader, rules *policy.Policy, namespaces []string) (lines []string,
	err error) {
	labeled, err := labelsOf(ctx, reader, rules)
	if err != nil {
		return nil, err
	}
	if len(namespaces) == 0 {
		namespaces = []string{metav1.NamespaceAll}
	}
	for _, namespace := range namespaces {
		err := eachRecord(ctx, reader, namespace, func(record *corev1.Secret) {
			labels := labeled[record.Namespace]
			lines = append(lines, outdatedIn(record, rules.For(record.Namespace, labels), labels)...)
		})
		if err != nil {
			return nil, fmt.Errorf("cannot read the records of releases: %w", err)
		}
	}
	return lines, nil
}

// labelsOf returns the labels of namespaces; nil if they may not be read, and the policy does not depend on them.
func labelsOf(ctx context.Context, reader client.Reader, rules *policy.Policy) (map[string]map[string]string, error) {
	namespaces := &corev1.NamespaceList{}
	switch err := reader.List(ctx, namespaces); {
	case apierrors.IsForbidden(err) && !rules.Selects():
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("cannot read the labels of namespaces: %w", err)
	}
	labeled := map[string]map[string]string{}
	for _, namespace := range namespaces.Items {
		labeled[namespace.Name] = namespace.Labels
	}
	return labeled, nil
}

// eachRecord visits the records of deployed releases.
func eachRecord(ctx context.Context, reader client.Reader, namespace string, visit func(*corev1.Secret)) error {
	deployed := client.MatchingLabels{"owner": "helm", "status": "deployed", v1.LabelManaged: "true"}
	for list := (&corev1.SecretList{}); ; {
		if err := reader.List(ctx, list, client.InNamespace(namespace), deployed, client.Limit(recordsAtATime),
			client.Continue(list.Continue)); err != nil {
			return err
		}
		for i := range list.Items {
			visit(&list.Items[i])
		}
		if list.Continue == "" {
			return nil
		}
	}
}

// outdatedIn returns the lines for the resource of a record; none if there is nothing, or if the record cannot be read.
// The labels of the namespace are nil if they are not known.
func outdatedIn(record *corev1.Secret, rules policy.Rules, labels map[string]string) (lines []string) {
	owner := metav1.GetControllerOfNoCopy(record)
	recorded, err := release.Decode(record)
	if owner == nil || err != nil {
		return nil
	}
	const stays = "stays allowed, with a warning, and no other may begin with it: "
	line := func(what string, against error) {
		lines = append(lines, fmt.Sprintf("%s %s/%s %s%v", owner.Kind, record.Namespace, owner.Name, what, against))
	}
	if against, refused := errors.AsType[*policy.Error](rules.Check(recorded.Objects)); refused {
		if rules.Earlier().Check(recorded.Objects) == nil {
			line(stays, against)
		} else {
			line("is refused as soon as it changes: ", against)
		}
	}
	level, err := chart.PodSecurity(recorded.Chart)
	if err != nil || labels == nil {
		return lines
	}
	resource := kube.Object(schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind))
	enforced := postrender.FactsOf(labels).Enforced
	if pods, err := postrender.OutdatedPods(resource, level, enforced, recorded.Objects); err == nil && pods != nil {
		for _, violation := range pods.Violations {
			line(stays, errors.New(violation.Why))
		}
	}
	return lines
}
