package values

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// noValue is what Helm's template engine removes from all that it prints, whoever wrote it.
const noValue = "<no value>"

// printable refuses texts that would not come through templates and YAML as they are, and names their field.
func printable(path string, value any) error {
	switch value := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			if err := printable(path, key); err != nil {
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
			return fmt.Errorf("%s holds the text %q, which templates lose: write it otherwise", path, noValue)
		}
		for _, r := range value {
			if r >= 0x7f && r < 0xa0 || r&0xfffe == 0xfffe {
				return fmt.Errorf("%s holds the character %U, which YAML loses: remove it", path, r)
			}
		}
	}
	return nil
}
