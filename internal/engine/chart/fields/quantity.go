package fields

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// ErrVast is returned for quantities whose exponent is too large to compute with.
var ErrVast = errors.New("the exponent has more than two digits")

// Canonical returns the canonical form of a quantity. It returns ErrVast if Vast reports true.
func Canonical(value any) (string, error) {
	if Vast(value) {
		return "", ErrVast
	}
	text, err := json.Marshal(value)
	if err != nil {
		return "", err
	}
	var quantity resource.Quantity
	if err := json.Unmarshal(text, &quantity); err != nil {
		return "", err
	}
	return quantity.String(), nil
}

// Vast reports whether a value is or contains a string that is a number with an exponent of more than two digits.
// Parsing or comparing the quantity 1e999999999 would expand a billion digits. The largest quantity of Kubernetes is
// 2^63-1.
func Vast(value any) bool {
	switch value := value.(type) {
	case string:
		return vast(value)
	case map[string]any:
		for _, item := range value {
			if Vast(item) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(value, Vast)
	}
	return false
}

func vast(text string) bool {
	exponent := strings.TrimLeft(text, "+-.0123456789")
	if len(exponent) == len(text) || exponent == "" || exponent[0] != 'e' && exponent[0] != 'E' {
		return false
	}
	digits := strings.TrimLeft(exponent[1:], "+-")
	return len(digits) > 2 && strings.Trim(digits, "0123456789") == ""
}
