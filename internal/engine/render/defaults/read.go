package defaults

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/chart/fields"
	"github.com/example/appservice-operator/internal/engine/digest"
	"github.com/example/appservice-operator/internal/engine/text"
)

const (
	// Name of the ConfigMap by which a namespace sets defaults.
	Name = "appservice-defaults"
	// ByNamespace is the source of the layer that a namespace sets.
	ByNamespace = "ConfigMap " + Name
	// ByPlatform is the source of the layer beneath it.
	ByPlatform = "defaultValues of watches.yaml"
	// most is the size limit in bytes of a namespace's defaults for a kind.
	most = 64 << 10
)

// Key returns the ConfigMap's key for a kind.
func Key(kind string) string { return strings.ToLower(kind) + ".yaml" }

// Text is the text of a namespace's defaults for a kind in the ConfigMap. The zero value sets nothing.
type Text struct {
	// Digest identifies a text; empty for none.
	Digest string

	text string
	err  error
}

// Of returns the text for a kind in a ConfigMap.
func Of(config *corev1.ConfigMap, kind string) Text {
	key := Key(kind)
	text, there := config.Data[key]
	if !there {
		for _, other := range slices.Sorted(maps.Keys(config.Data)) {
			if question := fields.DidYouMean(other, []string{key}); question != "" {
				return Text{Digest: digest.Of([]byte(other))[:32], err: fmt.Errorf("unknown key %s%s", other, question)}
			}
		}
		return Text{}
	}
	if len(text) > most {
		return Text{Digest: digest.Of([]byte(text))[:32], err: fmt.Errorf("%s: has more than %d bytes", key, most)}
	}
	return Text{Digest: digest.Of([]byte(text))[:32], text: text}
}

// Read parses a namespace's defaults for a kind, which may set the allowed fields.
func (t Text) Read(kind string, allowed []string) (Layer, error) {
	fail := func(err error) (Layer, error) { return Layer{}, &Error{Source: ByNamespace, Kind: kind, Err: err} }
	if t.err != nil {
		return fail(t.err)
	}
	if err := folded(t.text); err != nil {
		return fail(err)
	}
	content, err := yaml.YAMLToJSONStrict([]byte(t.text))
	if err != nil {
		return fail(errors.New("not YAML: " + text.Line(strings.TrimPrefix(err.Error(), "yaml: "))))
	}
	var value any
	if err := utiljson.Unmarshal(content, &value); err != nil {
		return fail(err)
	}
	values, isMap := value.(map[string]any)
	if value != nil && !isMap {
		return fail(errors.New("must be a map, in the shape of spec"))
	}
	if err := permitted(values, "", allowed); err != nil {
		return fail(err)
	}
	return Layer{Source: ByNamespace, Values: values}, nil
}

// permitted returns an error that names a field which is not allowed, if there is one.
func permitted(values map[string]any, path string, allowed []string) error {
	for _, key := range slices.Sorted(maps.Keys(values)) {
		at := path + key
		nested, isMap := values[key].(map[string]any)
		inside := slices.ContainsFunc(allowed, func(field string) bool { return strings.HasPrefix(field, at+".") })
		switch {
		case slices.Contains(allowed, at):
		case isMap && inside:
			if err := permitted(nested, at+".", allowed); err != nil {
				return err
			}
		default:
			return fmt.Errorf("%s: a namespace may not set it, only what namespaceDefaults of watches.yaml lists", at)
		}
	}
	return nil
}

// Error reports that defaults cannot be used.
type Error struct {
	// Source of the defaults, and the kind that they are for.
	Source, Kind string
	Err          error
}

func (e *Error) Error() string { return e.Source + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Reason returns the reason of Ready.
func (e *Error) Reason() string { return v1.ReasonDefaultsInvalid }

// Hint returns what to do.
func (e *Error) Hint() string {
	if e.Source == ByPlatform {
		return "ask the platform team to correct defaultValues in watches.yaml; the spec is not at fault"
	}
	return fmt.Sprintf("correct %s of ConfigMap %s in this namespace; until then the running release stays as it is",
		Key(e.Kind), Name)
}

// Strip is the transform of a cache of ConfigMaps: it keeps only the part of their data that can be read.
func Strip(in any) (any, error) {
	config, is := in.(*corev1.ConfigMap)
	if !is {
		return in, nil
	}
	kept := &corev1.ConfigMap{TypeMeta: config.TypeMeta}
	kept.Name, kept.Namespace, kept.UID, kept.ResourceVersion = config.Name, config.Namespace, config.UID,
		config.ResourceVersion
	kept.Data = make(map[string]string, len(config.Data))
	for key, text := range config.Data {
		kept.Data[key] = strings.Clone(text[:min(len(text), most+1)])
	}
	return kept, nil
}
