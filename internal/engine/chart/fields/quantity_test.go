package fields

import (
	"errors"
	"testing"
)

func TestVastQuantities(t *testing.T) {
	cases := map[string]struct {
		value any
		want  bool
	}{
		"a quantity":                    {"500m", false},
		"with an exponent":              {"1e3", false},
		"the largest exponent":          {"-1.5E+99", false},
		"an exponent of three digits":   {"1e100", true},
		"a billion digits":              {"1e999999999", true},
		"a billionth of nothing":        {"1e-999999999", true},
		"with a sign and a point":       {"-.5E+1000", true},
		"an exa":                        {"1E", false},
		"a number":                      {int64(1), false},
		"a text that begins with a one": {"1e100 images", false},
		"a digest":                      {"1e1000f", false},
		"a word":                        {"eee", false},
		"nothing":                       {nil, false},
		"no text":                       {"", false},
		"in a map":                      {map[string]any{"a": "b", "limits": map[string]any{"cpu": "1e1000"}}, true},
		"in a list":                     {[]any{"a", map[string]any{"divisor": "1e1000"}}, true},
		"not in a list":                 {[]any{"a", map[string]any{"divisor": "1m"}}, false},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			if got := Vast(test.value); got != test.want {
				t.Errorf("got %t", got)
			}
		})
	}
	if _, err := Canonical("1e-999999999"); !errors.Is(err, ErrVast) {
		t.Errorf("got %v", err)
	}
}
