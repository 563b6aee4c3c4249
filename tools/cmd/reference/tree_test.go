package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// what crd-ref-docs writes
const flat = `# API Reference

#### AppService

| ` + "`spec` _[AppServiceSpec](#appservicespec)_" + ` | Spec. |  |  |

#### AppServiceSpec

_Appears in:_
- [AppService](#appservice)

| ` + "`size` _integer_" + ` | Size. | 1 | Maximum: 2.147483647e+09 <br />Minimum: 0 <br />Optional: \{\} <br /> |
| ` + "`ports` _[Port](#port) array_" + ` | Ports. |  | Optional: \{\} <br /> |
| ` + "`labels` _object (keys:string, values:[Label](#label))_" + ` | Labels. |  | Optional: \{\} <br /> |

#### Label

A label.

#### Other

Not in the spec.

#### Port

_Appears in:_
- [AppServiceSpec](#appservicespec)

| ` + "`port` _integer_" + ` | Port. |  | Minimum: 1 <br /> |
`

func TestThePageIsInTheOrderOfTheSpec(t *testing.T) {
	examples := &samples{map[string]string{
		"appservice_ports.yaml": "  image: a\n  ports:\n  - port: 80\n  size: 2\n",
		"appservice_size.yaml":  "  size: 3\n",
	}}
	got := arranged(flat, []string{"spec.ports[].name must be unique", "spec.labels has a reserved key"}, examples)
	var names []string
	for part := range strings.SplitSeq(got, "\n#### ") {
		name, _, _ := strings.Cut(part, "\n")
		names = append(names, name)
	}
	assert.Equal(t, []string{"# API Reference", "AppService", "AppServiceSpec", "Port", "Label", "Other"}, names)
	_, spec, _ := strings.Cut(got, "#### AppServiceSpec")
	spec, port, _ := strings.Cut(spec, "#### Port")
	assert.Contains(t, spec, "Size. ([sample](../../config/samples/appservice_size.yaml)) | 1 | Minimum: 0 |\n")
	assert.Contains(t, spec, "\nBesides:\n\n- spec.labels has a reserved key\n")
	assert.Contains(t, port, "At `spec.ports[]`.\n")
	assert.Contains(t, port, "| Port. |  | Minimum: 1 <br /> Required |\n")
	assert.Contains(t, port, "- spec.ports[].name must be unique\n")
	assert.Contains(t, port, "```yaml\nspec:\n  ports:\n  - port: 80\n```\n")
	assert.NotContains(t, got, "Optional")
	assert.NotContains(t, got, "Appears in")
}
