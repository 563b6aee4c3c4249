package values

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// noValue is the text that Helm's template engine removes from everything it prints, whatever its source.
const noValue = "<no value>"

// maxKey is the maximum length of a key in Kubernetes, that of labels and annotations: a prefix, a slash and a name.
// YAML does not accept keys of more than 1,024 characters.
const maxKey = 253 + 1 + 63

// printable refuses texts that templates and YAML would not preserve, and names their field.
func printable(path string, value any) error {
	switch value := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			if err := printableKey(path, key); err != nil {
				return err
			}
			if err := printable(path+"."+key, value[key]); err != nil {
				return err
			}
		}
	case []any:
		for i, item := range value {
			if err := printable(fmt.Sprintf("%s[%d]", path, i), item); err != nil {
				return err
			}
		}
	case string:
		if strings.Contains(value, noValue) {
			return fmt.Errorf("%s holds the text %q, which templates lose: write it in another way", path, noValue)
		}
		for _, r := range value {
			if r >= 0x7f && r < 0xa0 || r&0xfffe == 0xfffe {
				return fmt.Errorf("%s holds the character %U, which YAML loses: remove it", path, r)
			}
		}
	}
	return nil
}

// printableKey refuses invalid map keys, and names the map: the key may be unfit to be shown.
func printableKey(path, key string) error {
	if length := utf8.RuneCountInString(key); length > maxKey {
		return fmt.Errorf("%s has a key of %d characters: at most %d are allowed", path, length, maxKey)
	}
	for _, r := range key {
		if unicode.IsControl(r) {
			return fmt.Errorf("%s has a key with the character %U: remove it", path, r)
		}
	}
	return printable(path, key)
}
