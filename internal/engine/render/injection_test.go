package render

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/postrender"
)

// payloads are texts that mean something to YAML, to templates or to Helm, by what they are. That they arrive wherever a spec may hold a text,
// test/injection shows, with fewer of them.
var payloads = map[string]string{
	"a key on a line of its own":      "x\nhostNetwork: true",
	"a deeper key":                    "x\n  hostNetwork: true\n",
	"a key behind a quote":            "x\"\nhostNetwork: true\ny: \"z",
	"a document":                      "x\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: evil}\n",
	"a document behind a quote":       "x\"\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: evil}\nx: \"",
	"a separator":                     "---",
	"a separator in lines":            "\n---\n",
	"an end of document":              "x\n...\ny",
	"a directive":                     "%YAML 1.2",
	"an action":                       "{{ .Release.Name }}",
	"an action that fails":            `{{ fail "no" }}`,
	"an open action":                  "{{",
	"a closed action":                 "}}",
	"what a template says of nothing": "<no value>",
	"a mark of an error":              "HELM_ERR_START x HELM_ERR_END",
	"an alias":                        "*a",
	"an anchor":                       "&a x",
	"a tag":                           "!!",
	"a tag of a type":                 "!!binary eA==",
	"a merge":                         "<<",
	"yes":                             "yes",
	"no":                              "no",
	"y":                               "y",
	"true":                            "true",
	"null":                            "null",
	"a tilde":                         "~",
	"an exponent":                     "1e3",
	"a hexadecimal number":            "0x1F",
	"an octal number":                 "0o17",
	"an octal number of old":          "017",
	"a binary number":                 "0b11",
	"a number with separators":        "1_000",
	"a version":                       "1.10",
	"a sexagesimal number":            "12:30:45",
	"no number":                       ".nan",
	"infinity":                        "-.inf",
	"a date":                          "2001-12-14",
	"an equals sign":                  "=",
	"a map":                           "{a: b}",
	"a list":                          "[a, b]",
	"an item":                         "- a",
	"a key":                           "a: b",
	"a key without a value":           "a:",
	"a complex key":                   "? a",
	"a comment":                       "# a",
	"a text and a comment":            "a # b",
	"a literal":                       "|",
	"a folded text":                   ">-\n  a",
	"an at sign":                      "@a",
	"a backquote":                     "`a`",
	"double quotes":                   `"a" "b`,
	"single quotes":                   `'a' 'b`,
	"backslashes":                     `\n \x41 \" \`,
	"a dollar":                        "$HOME ${HOME} $(HOME) $$",
	"a space":                         " ",
	"spaces at both ends":             "  a  ",
	"spaces at the end of lines":      "a  \nb  \n",
	"tabs":                            "\ta\t",
	"a line end":                      "a\n",
	"two line ends":                   "a\n\n",
	"line ends alone":                 "\n\n",
	"a line end at the start":         "\na",
	"an indented first line":          "  a\nb",
	"line ends of Windows":            "a\r\nb\r\n",
	"a carriage return":               "a\rb",
	"a line separator":                "a\u2028b",
	"a paragraph separator":           "a\u2029b",
	"a next line":                     "a\u0085b",
	"a byte order mark":               "\ufeffa",
	"a byte order mark within":        "a\ufeffb",
	"a space that does not break":     "a\u00a0b",
	"a space of no width":             "a\u200bb",
	"a reversal":                      "a\u202eb",
	"a letter and its accent":         "e\u0301 \u00e9",
	"a rocket":                        "🚀 \U0010fffd",
	"a private letter":                "\ue000 \U000f0000",
	"a replacement":                   "\ufffd",
	"no letters":                      "\ufffe\uffff \U0001ffff",
	"a zero":                          "a\x00b",
	"a bell":                          "\a\b\v\f\x1b",
	"a delete":                        "a\x7fb",
	"a control of the second set":     "a\u0080\u009fb",
	"markup":                          `<a href="b">&amp;</a>`,
	"10 kB":                           strings.Repeat("0123456789", 1024),
	"10 kB of words and lines":        strings.Repeat(strings.Repeat("word ", 40)+"\nkey: value # more\n", 47),
}

// refusable names the payloads that may be refused instead: YAML has no plain way to say them, and nobody needs them.
// These texts must be refused; nothing may change or drop them silently.
var refusable = []string{"what a template says of nothing", "a next line", "no letters", "a delete", "a control of the second set"}

func keysOf(result *Result) string {
	var keys []string
	for _, object := range result.Objects {
		keys = append(keys, kube.KeyOf(object).String())
	}
	return strings.Join(keys, ", ")
}

// TestManifestKeepsEveryText reads printed payloads back: the release record holds what is printed.
func TestManifestKeepsEveryText(t *testing.T) {
	renderer := unguarded(t)
	for name, payload := range payloads {
		t.Run(name, func(t *testing.T) {
			resource := appService(t, "{image: a, config: {environment: {A: b}}}")
			require.NoError(t, unstructured.SetNestedField(resource.Object, payload, "spec", "config", "environment", "A"))
			result, err := renderer.Render(t.Context(), resource, everyKind)
			var invalid *InvalidSpecError
			if errors.As(err, &invalid) && slices.Contains(refusable, name) {
				return
			}
			require.NoError(t, err)
			readsBack(t, result)
		})
	}
}

// TestEveryLetterArrives puts all letters into the configuration and into a variable, those aside that
// may be refused. Of the many beyond U+3000 it takes one in 31.
func TestEveryLetterArrives(t *testing.T) {
	environment, envs := map[string]any{}, []any{}
	for plane := range 17 {
		var letters strings.Builder
		for r := rune(plane) << 16; r < rune(plane+1)<<16; r++ {
			surrogate, control := r >= 0xd800 && r < 0xe000, r >= 0x7f && r < 0xa0
			if surrogate || control || r&0xfffe == 0xfffe || r > 0x3000 && r%31 != 0 {
				continue
			}
			letters.WriteRune(r)
		}
		name := fmt.Sprintf("PLANE_%d", plane)
		environment[name] = letters.String()
		envs = append(envs, map[string]any{"name": name, "value": letters.String()})
	}
	resource := appService(t, "{image: a}")
	resource.Object["spec"].(map[string]any)["config"] = map[string]any{"environment": environment}
	resource.Object["spec"].(map[string]any)["envs"] = envs
	result := unlimited(t, shipped(t), resource)
	if diff := cmp.Diff(environment, find(t, result, "ConfigMap", "web-config").Object["data"]); diff != "" {
		t.Error(diff)
	}
	containers, _, _ := unstructured.NestedSlice(find(t, result, "Deployment", "web").Object, "spec", "template", "spec", "containers")
	if diff := cmp.Diff(envs, containers[0].(map[string]any)["env"]); diff != "" {
		t.Error(diff)
	}
}

func objectOf(result *Result, kind string) *unstructured.Unstructured {
	for _, object := range result.Objects {
		if object.GetKind() == kind {
			return object
		}
	}
	return &unstructured.Unstructured{}
}

// TestNoAnnotationTakesAnObjectAway: what Helm and the operator know objects by is not for a spec to say.
func TestNoAnnotationTakesAnObjectAway(t *testing.T) {
	specs := map[string]string{
		"Ingress":        `{image: a, ports: [{port: 80}], ingress: {hosts: [{host: b}], annotations: {%s: %s}}}`,
		"Service":        `{image: a, ports: [{port: 80}], service: {annotations: {%s: %s}}}`,
		"ServiceAccount": `{image: a, serviceAccount: {create: true, annotations: {%s: %s}}}`,
	}
	renderer := unguarded(t)
	cases := map[string][2]string{
		"a Helm hook":            {"helm.sh/hook", "pre-install"},
		"a test":                 {"helm.sh/hook", "test"},
		"an unknown Helm hook":   {"helm.sh/hook", "nothing"},
		"a weight":               {"helm.sh/hook-weight", "5"},
		"another release":        {"meta.helm.sh/release-name", "other"},
		"another namespace":      {"meta.helm.sh/release-namespace", "other"},
		"another stamp":          {postrender.AnnotationStamp, "0123"},
		"what outlives its time": {"helm.sh/resource-policy", "keep"},
	}
	for kind, spec := range specs {
		want := rendered(t, renderer, appService(t, fmt.Sprintf(spec, "example.com/note", "text")))
		for name, annotation := range cases {
			t.Run(kind+", "+name, func(t *testing.T) {
				got, err := renderer.Render(t.Context(), appService(t, fmt.Sprintf(spec, annotation[0], annotation[1])), everyKind)
				if err != nil {
					return // refused is well, too
				}
				if keysOf(got) != keysOf(want) {
					t.Fatalf("got %s, want %s", keysOf(got), keysOf(want))
				}
				object := objectOf(got, kind)
				if found := object.GetAnnotations(); found["meta.helm.sh/release-name"] != "web" || found["meta.helm.sh/release-namespace"] != "shop" {
					t.Errorf("the %s says that it belongs to another: %v", kind, found)
				}
				if stamp := object.GetAnnotations()[postrender.AnnotationStamp]; len(stamp) != 32 {
					t.Errorf("the stamp is %q", stamp)
				}
				if len(object.GetOwnerReferences()) != 1 {
					t.Errorf("the %s has no owner: it stays for ever", kind)
				}
			})
		}
	}
}
