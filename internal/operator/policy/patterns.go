package policy

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/example/appservice-operator/internal/engine/violation"

	corev1 "k8s.io/api/core/v1"

	"github.com/example/appservice-operator/internal/engine/chart/fields"
)

const (
	// beneath, as the first entry of a list, stands for the list beneath it.
	beneath = violation.Beneath
	// refuses is the prefix of a pattern that is not allowed.
	refuses = "!"
	// everything is the pattern of a list that allows all.
	everything = "*"
)

// Patterns are names, keys and the like, in which * matches any characters except a slash. The empty text is matched
// only by the empty pattern.
type Patterns []string

// Allow reports whether the last pattern that matches a text allows it.
func (p Patterns) Allow(text string) bool { return last(p, text, glob, glob) }

func (p Patterns) check(item string) error {
	if strings.ContainsAny(item, `?[]\ `) {
		return fmt.Errorf("%q is not a pattern: * stands for any characters except a slash, all other characters for themselves", item)
	}
	return nil
}

func glob(pattern, text string) bool {
	if pattern == "" || text == "" {
		return pattern == text
	}
	matches, _ := path.Match(pattern, text) // check has tried it
	return matches
}

// last reports whether the last matching pattern allows a text. A pattern that allows must cover all of the text; to
// refuse it, a part is enough.
func last(list []string, text string, covers, overlaps func(pattern, text string) bool) bool {
	for _, pattern := range slices.Backward(list) {
		refused, refusing := strings.CutPrefix(pattern, refuses)
		switch {
		case refusing && overlaps(refused, text):
			return false
		case !refusing && covers(pattern, text):
			return true
		}
	}
	return false
}

// ServiceTypes are types of Services.
type ServiceTypes []string

// Allow reports whether Services may be of a type.
func (s ServiceTypes) Allow(kind string) bool { return Patterns(s).Allow(kind) }

func (s ServiceTypes) check(item string) error {
	return oneOf(item, []string{
		string(corev1.ServiceTypeClusterIP), string(corev1.ServiceTypeNodePort), string(corev1.ServiceTypeLoadBalancer),
		string(corev1.ServiceTypeExternalName),
	})
}

// VolumeTypes are types of volumes.
type VolumeTypes []string

// withSecret is the type of a volume whose driver receives a Secret, whoever may read that.
const withSecret = "csi.nodePublishSecretRef" //nolint:gosec // the name of a type, no credential

// Allow reports whether volumes may be of a type.
func (v VolumeTypes) Allow(kind string) bool { return Patterns(v).Allow(kind) }

func (v VolumeTypes) check(item string) error { return oneOf(item, volumeTypes) }

// volumeTypes are all existing types.
var volumeTypes = slices.Sorted(maps.Keys(fields.Members(reflect.TypeFor[struct {
	corev1.VolumeSource
	WithSecret string `json:"csi.nodePublishSecretRef"`
}]())))

func oneOf(item string, known []string) error {
	item = strings.TrimPrefix(item, refuses)
	if item == everything || slices.Contains(known, item) {
		return nil
	}
	return errors.New(item + " is not known" + fields.DidYouMean(item, known) + ": there are " + strings.Join(known, ", "))
}
