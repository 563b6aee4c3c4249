//go:build cluster

package dashboard

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/text"
	"github.com/example/appservice-operator/test/injection/payloads"
)

// outline is the elements below one, without their texts.
const outline = `(function outline(of) { return of.tagName + '.' + of.className + '(' + [...of.children].map(outline).join() + ')'; })`

// markup are texts that mean something to a browser.
var markup = map[string]string{
	"an image":           `<img src=x onerror="document.title='evil'">`,
	"the end of a text":  `</td></tr></table><script>document.title='evil'</script>`,
	"an entity":          `&lt;img src=x onerror=alert(1)&gt;`,
	"an address":         `javascript:document.title='evil'`,
	"an event's end":     "x\n\nevent: gone\ndata: \"all\"\n\n",
	"a template":         "${document.title='evil'}",
	"another direction":  "\u202eevil\u2066",
	"a name of a method": "__proto__",
}

// hurt is the status of an AppService whose texts are a payload.
func hurt(payload string) v1.AppServiceStatus {
	status := failing(payload, payload)
	status.Problems[0].Reason, status.Problems[0].Source = payload, payload
	status.Image, status.URL = payload, payload
	status.Resources = []v1.ResourceStatus{{Kind: "Deployment", Name: "web", Message: payload, State: v1.ResourceFailed}}
	return status
}

// TestNoTextBecomesMarkup: whatever the texts of a status are, the page has the elements that it has for a word.
func TestNoTextBecomesMarkup(t *testing.T) {
	namespace := cluster.Namespace(t)
	all := maps.Clone(payloads.All)
	maps.Copy(all, markup)
	all["a word"] = "word"
	texts := slices.Sorted(maps.Keys(all))
	name := func(i int) string { return fmt.Sprintf("web-%02d", i) }
	for i, what := range texts {
		require.NoError(t, judged(t.Context(), namespace, name(i), hurt(all[what])), what)
	}
	b := open(t, dashboard(t, namespace))
	b.becomes(t, fmt.Sprintf("document.querySelectorAll('#rows tr').length === %d", len(texts)))
	row := func(i int) string { return outline + `(document.querySelector('[data-id$="/` + name(i) + `"]'))` }
	word := slices.Index(texts, "a word")
	wantRow := value[string](t, b, row(word))
	b.show(t, namespace, name(word))
	wantPage := value[string](t, b, outline+`(document.querySelector('#resource'))`)
	changed := 0
	for i, what := range texts {
		if text.Line(all[what]) == "" {
			continue // no text is no element
		}
		b.show(t, namespace, name(i))
		page := value[string](t, b, outline+`(document.querySelector('#resource'))`)
		shown := value[string](t, b, `document.querySelector('#resource').textContent`)
		same := assert.Equal(t, wantRow, value[string](t, b, row(i)), what) && assert.Equal(t, wantPage, page, what)
		// a text of several lines, or of 10 kB, is shortened
		if first, _, _ := strings.Cut(strings.TrimSpace(text.Visible(all[what])), "\n"); !assert.Contains(t, text.Line(shown), text.Line(first), what) || !same {
			changed++
		}
	}
	assert.NotContains(t, value[string](t, b, "document.title"), "evil")
	b.mu.Lock()
	defer b.mu.Unlock()
	assert.Empty(t, b.complaints)
	t.Logf("DASHBOARD injections=%d changed=%d", len(texts), changed)
}
