package cli

import (
	"encoding/json"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// suspend is the field of spec that stops new runs, as in CronJob.
const suspend = "suspend"

// insteadOf returns the error for pausing or resuming a resource that is not an AppService. It names the field that the kind has instead, if any.
func (s *shell) insteadOf(verb string, name named) error {
	refusal := fmt.Sprintf("cannot %s %s: the operator honors spec.paused of AppServices only", verb, name)
	kind := strings.ToLower(name.Kind.Kind)
	description, there, err := s.specField(name.Kind, suspend)
	switch {
	case err != nil:
		return fmt.Errorf("%s, and the fields of %s cannot be read: %w", refusal, name.Kind.Kind, err)
	case !there:
		return fmt.Errorf("%s, and %s has no spec.%s: kubectl explain %s.spec lists the fields that its chart declares", refusal, name.Kind.Kind, suspend, kind)
	}
	value := "true"
	if verb == "resume" {
		value = "null"
	}
	return fmt.Errorf("%s. %s has spec.%s (%s): kubectl patch %s %s --namespace=%s --type=merge --patch='{\"spec\":{\"%s\":%s}}'",
		refusal, name.Kind.Kind, suspend, strings.TrimSuffix(description, "."), kind, name.Name, name.Namespace, suspend, value)
}

// specField returns the description of a field of a kind's spec, and whether the field exists. It reads the cluster's OpenAPI v3 document, which
// every user may read.
func (s *shell) specField(kind schema.GroupVersionKind, field string) (description string, there bool, err error) {
	discovery, err := s.kube.ToDiscoveryClient()
	if err != nil {
		return "", false, err
	}
	paths, err := discovery.OpenAPIV3().Paths()
	if err != nil {
		return "", false, err
	}
	group := paths["apis/"+kind.GroupVersion().String()]
	if group == nil {
		return "", false, fmt.Errorf("the cluster does not describe %s", kind.GroupVersion())
	}
	text, err := group.Schema(runtime.ContentTypeJSON)
	if err != nil {
		return "", false, err
	}
	type described struct {
		Description string                `json:"description"`
		Properties  map[string]*described `json:"properties"`
	}
	var document struct {
		Components struct {
			Schemas map[string]struct {
				Kinds []schema.GroupVersionKind `json:"x-kubernetes-group-version-kind"`
				described
			} `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(text, &document); err != nil {
		return "", false, err
	}
	for _, each := range document.Components.Schemas {
		if len(each.Kinds) != 1 || each.Kinds[0] != kind || each.Properties["spec"] == nil {
			continue
		}
		if found := each.Properties["spec"].Properties[field]; found != nil {
			return found.Description, true, nil
		}
	}
	return "", false, nil
}
