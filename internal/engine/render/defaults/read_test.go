package defaults

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var allowed = []string{"resources", "config.logLevel", "tolerations"}

func TestReadIsStrict(t *testing.T) {
	cases := map[string]struct{ key, text, want string }{
		"a field":            {"appservice.yaml", "tolerations: []", ""},
		"a field of a field": {"appservice.yaml", "config: {logLevel: info}", ""},
		"nothing":            {"appservice.yaml", "# later", ""},
		"what is not allowed": {
			"appservice.yaml", "image: nginx",
			"ConfigMap appservice-defaults: image: a namespace may not set it, only what namespaceDefaults of watches.yaml lists",
		},
		"what is not allowed beside what is": {"appservice.yaml", "config: {databaseUrl: x}", "config.databaseUrl: a namespace may not set it"},
		"all of what is allowed in part":     {"appservice.yaml", "config: all", "config: a namespace may not set it"},
		"no map":                             {"appservice.yaml", "[a]", "must be a map, in the shape of spec"},
		"no YAML":                            {"appservice.yaml", "a: b: c", "not YAML: "},
		"a key twice":                        {"appservice.yaml", "resources: {}\nresources: {}", "already set"},
		"another spelling of the key":        {"appservices.yaml", "resources: {}", "unknown key appservices.yaml: did you mean appservice.yaml?"},
		"an alias":                           {"appservice.yaml", "resources:\n  limits: &a {cpu: 1}\n  requests: *a", ""},
		"a long text again and again":        {"appservice.yaml", "tolerations: [&a " + strings.Repeat("x", 1000) + strings.Repeat(", *a", 1000) + "]", "with its aliases (as *name) expanded, has more than 65536 bytes"},
		"lists of lists":                     {"appservice.yaml", "tolerations: [&a [x, x, x, x, x, x, x, x], &b [*a, *a, *a, *a, *a, *a, *a, *a], &c [*b, *b, *b, *b, *b, *b, *b, *b], &d [*c, *c, *c, *c, *c, *c, *c, *c], &e [*d, *d, *d, *d, *d, *d, *d, *d], *e, *e]", "with its aliases"},
		"a map laid over itself":             {"appservice.yaml", "resources: &a\n  <<: *a", "with its aliases"},
		"a list that is its own part":        {"appservice.yaml", "tolerations: &a [*a]", "with its aliases"},
		"too much":                           {"appservice.yaml", "# " + strings.Repeat("x", most), "appservice.yaml: has more than 65536 bytes"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			stripped, err := Strip(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: Name}, Data: map[string]string{test.key: test.text}})
			require.NoError(t, err)
			text := Of(stripped.(*corev1.ConfigMap), "AppService")
			if text.Digest == "" {
				t.Fatal("what is said has no digest")
			}
			_, err = text.Read("AppService", allowed)
			switch {
			case test.want == "" && err != nil:
				t.Errorf("it is refused: %v", err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n")):
				t.Errorf("got %v, want %s", err, test.want)
			}
			var refused *Error
			if test.want != "" && (!errors.As(err, &refused) || refused.Reason() != "DefaultsInvalid" || !strings.Contains(refused.Hint(), "appservice.yaml")) {
				t.Errorf("got %#v", err)
			}
		})
	}
}

func TestWhatIsSaidOfOtherKindsIsNothing(t *testing.T) {
	config := &corev1.ConfigMap{Data: map[string]string{"appjob.yaml": "resources: {}", "README": "what this is for"}}
	if got := Of(config, "AppService"); got != (Text{}) {
		t.Errorf("got %+v", got)
	}
	if got := Of(config, "AppJob"); got.Digest == "" {
		t.Error("what is said of AppJob is not found")
	}
}
