package preview

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// gatewayHints are the equivalents in spec.route of fields that only the Gateway API has. The words may have the value
// of the object that the field is in: type and value of a path.
var gatewayHints = []struct {
	field *regexp.Regexp
	words func(within map[string]any) string
}{
	{in(`matches\[\d+\]\.path\.(type|value)`), func(path map[string]any) string {
		return fmt.Sprintf("write path: %v, and beside it pathType: %v", valueOr(path, "value", "/"), valueOr(path, "type", "PathPrefix"))
	}},
	{in(`matches\[\d+\]\.headers\[\d+\]\.(name|value|type)`), func(header map[string]any) string {
		return fmt.Sprintf("headers are a map: write headers: {%v: %q}", valueOr(header, "name", "x-a"),
			fmt.Sprint(valueOr(header, "value", "1")))
	}},
	{in(`backendRefs`), always("write port: 80, or for several backends: [{port: 80, weight: 9}, {service: next, port: 80}]")},
	{in(`filters`), always("write a field for each filter: redirect, rewrite, requestHeaders, responseHeaders, cors, mirror")},
	{in(`timeouts`), always("write requestTimeout and backendRequestTimeout")},
	{in(`(redirect|rewrite)\.path\.(type|replaceFullPath|replacePrefixMatch)`),
		always("write path for the whole path, or prefix for what the rule matches")},
}

// in matches a field of a rule of the route.
func in(field string) *regexp.Regexp {
	return regexp.MustCompile(`^spec\.route\.rules\[\d+\]\.` + field + `$`)
}

func always(words string) func(map[string]any) string {
	return func(map[string]any) string { return words }
}

// valueOr returns the value of a field, or a common one if it is not set.
func valueOr(object map[string]any, name string, common any) any {
	if value, there := object[name]; there {
		return value
	}
	return common
}

// gatewayHint returns the words for a field, with a separator before them; empty if there are none.
func gatewayHint(content map[string]any, field string) string {
	for _, known := range gatewayHints {
		if known.field.MatchString(field) {
			within, _ := at(content, field[:max(0, strings.LastIndex(field, "."))]).(map[string]any)
			return ": in an AppService, " + known.words(within)
		}
	}
	return ""
}

// at returns the value of a field such as spec.rules[0].path; nil if there is none.
func at(content any, field string) any {
	for step := range strings.FieldsFuncSeq(field, func(letter rune) bool { return strings.ContainsRune(".[]", letter) }) {
		switch value := content.(type) {
		case map[string]any:
			content = value[step]
		case []any:
			index, err := strconv.Atoi(step)
			if err != nil || index >= len(value) {
				return nil
			}
			content = value[index]
		default:
			return nil
		}
	}
	return content
}
