package fields

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Canonical is the one spelling of a quantity.
func Canonical(value any) (string, error) {
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
