package operator

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/controller/release"
	"github.com/example/appservice-operator/internal/policy"
)

// recordsAtATime is how many records are read at a time: each may have some hundred KiB.
const recordsAtATime = 250

// outdated returns a line for each resource whose recorded release the policy refuses. Fields that only earlier
// versions of the built-in policy allowed stay as they are, and nobody else may begin with them. No namespaces stands
// for all.
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
			if line := outdatedIn(record, rules.For(record.Namespace, labeled[record.Namespace])); line != "" {
				lines = append(lines, line)
			}
		})
		if err != nil {
			return nil, fmt.Errorf("cannot read the records of releases: %w", err)
		}
	}
	return lines, nil
}

// labelsOf returns the labels of namespaces, if the policy depends on them.
func labelsOf(ctx context.Context, reader client.Reader, rules *policy.Policy) (map[string]map[string]string, error) {
	labeled, namespaces := map[string]map[string]string{}, &corev1.NamespaceList{}
	if !rules.Selects() {
		return labeled, nil
	}
	if err := reader.List(ctx, namespaces); err != nil {
		return nil, fmt.Errorf("cannot read the labels of namespaces: %w", err)
	}
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

// outdatedIn returns the line for the resource of a record; empty if there is nothing, or if the record cannot be read.
func outdatedIn(record *corev1.Secret, rules policy.Rules) string {
	owner := metav1.GetControllerOfNoCopy(record)
	recorded, err := release.Decode(record)
	if owner == nil || err != nil {
		return ""
	}
	against, refused := errors.AsType[*policy.Error](rules.Check(recorded.Objects))
	if !refused {
		return ""
	}
	what := "is refused as soon as it changes: "
	if rules.Earlier().Check(recorded.Objects) == nil {
		what = "stays allowed, with a warning, and no other may begin with it: "
	}
	return fmt.Sprintf("%s %s/%s %s%v", owner.Kind, record.Namespace, owner.Name, what, against)
}
