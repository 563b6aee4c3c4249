package render

import (
	"errors"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const partials = `
{{- define "endless" }}{{ include "endless" . }}{{ end }}
{{- define "endless template" }}{{ template "endless template" . }}{{ end }}
{{- define "ping" }}{{ include "pong" . }}{{ end }}
{{- define "pong" }}{{ template "ping" . }}{{ end }}
{{- define "twice" }}{{ if . }}{{ include "twice" (rest .) }}{{ include "twice" (rest .) }}{{ end }}{{ end }}
{{- define "writes" }}{{ range 10000000 }}text{{ end }}{{ end }}`

// A template that never ends, or needs too much memory, is an error like any other.
func TestATemplateThatTakesTooMuchIsStopped(t *testing.T) {
	cases := map[string]struct {
		template string
		want     error
	}{
		"a partial that includes itself":            {`{{ include "endless" . }}`, errDepth},
		"a template that calls itself":              {`{{ template "endless template" . }}`, errDepth},
		"partials that take turns":                  {`{{ include "ping" . }}`, errDepth},
		"a partial that includes itself twice":      {`{{ include "twice" (until 60 | toStrings) }}`, errSteps},
		"a template of a file that includes itself": {`{{ tpl "{{ define \"x\" }}{{ include \"x\" . }}{{ end }}{{ include \"x\" . }}" . }}`, errDepth},
		"a file that includes itself":               {`{{ tpl (.Files.Get "x.txt") . }}`, errDepth},
		"a loop that writes nothing":                {`{{ range 1000000000 }}{{ end }}`, errSteps},
		"loops in loops":                            {`{{ range 100000 }}{{ range 100000 }}{{ if . }}{{ continue }}{{ end }}{{ end }}{{ end }}`, errSteps},
		"a loop in a template of a file":            {`{{ tpl "{{ range 1000000000 }}{{ end }}" . }}`, errSteps},
		"a loop that writes":                        {`{{ range 900000 }}{{ . }} and much more than that it is: very much more{{ end }}`, errBytes},
		"a partial that writes":                     {`{{ include "writes" . | len }}`, errSteps},
		"a long list":                               {`{{ range until 1000000000 }}{{ end }}`, errBytes},
		"a long list, downwards":                    {`{{ untilStep 0 -2000000000 -1 | len }}`, errBytes},
		"a long list as text":                       {`{{ seq 1000000000 }}`, errBytes},
		"a text many times":                         {`{{ repeat 1000000000 "text" }}`, errBytes},
		"as many as there are numbers":              {`{{ repeat 9223372036854775807 "text" }}`, errBytes},
		"a deep indentation":                        {`{{ "text" | nindent 1000000000 }}`, errBytes},
		"a text that doubles":                       {`{{ $x := "text" }}{{ range 60 }}{{ $x = print $x $x }}{{ end }}{{ $x | len }}`, errBytes},
		"a text that is quoted again and again":     {`{{ $x := "\"" }}{{ range 60 }}{{ $x = quote $x }}{{ end }}{{ $x | len }}`, errBytes},
		"a text that is replaced by itself":         {`{{ $x := "aa" }}{{ range 60 }}{{ $x = replace "a" "aa" $x }}{{ end }}{{ $x | len }}`, errBytes},
		"a text that is escaped again and again":    {`{{ $x := "\\" }}{{ range 60 }}{{ $x = js $x }}{{ end }}{{ $x | len }}`, errBytes},
		"an indentation of nothing":                 {`{{ nindent 1000000000 "" }}`, errBytes},
		"numbers up to the largest":                 {`{{ untilStep 9223372036854775800 9223372036854775807 5 | len }}`, errBytes},
		"texts between the letters of another":      {`{{ $x := repeat 100000 "x" }}{{ replace "" $x $x }}`, errBytes},
		"a text between the texts of a list":        {`{{ join (repeat 100000 "x") (until 100000) }}`, errBytes},
		"a text between the words of another":       {`{{ $x := repeat 100000 "x" }}{{ wrapWith 1 $x $x }}`, errBytes},
		"the letters of a text, again and again":    {`{{ $x := repeat 100000 "x" }}{{ $y := list }}{{ range 100 }}{{ $y = append $y (splitList "" $x) }}{{ end }}`, errBytes},
		"a list that doubles":                       {`{{ $x := list 1 2 }}{{ range 60 }}{{ $x = concat $x $x }}{{ end }}{{ $x | len }}`, errBytes},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			renderer := of(map[string]string{"_h.tpl": partials, "a.yaml": service, "b.yaml": "\n\n{{ if .Values.loud }}" + test.template + "{{ end }}"})
			renderer.Chart.Files = []*chart.File{{Name: "x.txt", Data: []byte(`{{ tpl (.Files.Get "x.txt") . }}`)}}
			_, err := renderer.Render(t.Context(), resource(t, widget, `{loud: true}`), everyKind)
			var fault *ChartError
			says := err != nil && (strings.Contains(err.Error(), test.want.Error()) ||
				errors.Is(test.want, errSteps) && strings.Contains(err.Error(), errTime.Error())) // where others use the processors
			if !errors.As(err, &fault) || !says || !strings.Contains(err.Error(), "templates/b.yaml line 3") {
				t.Fatalf("got %v", err)
			}
			if result := rendered(t, renderer, resource(t, widget, `{}`)); len(result.Objects) != 1 {
				t.Errorf("afterwards it renders %d objects, want 1", len(result.Objects))
			}
		})
	}
}

// Helm has no date that is none: it prints the present one.
func TestATimeThatIsNoneIsNotThePresentOne(t *testing.T) {
	cases := map[string]struct {
		template string
		fails    bool
	}{
		"seconds":            {`{{ dateInZone "2006" 0 "UTC" }}`, false},
		"a time":             {`{{ toDate "2006-01-02" "1970-01-01" | date "2006" }}`, false},
		"a text":             {`{{ date "2006" "1970-01-01" }}`, true},
		"nothing":            {`{{ htmlDate .Values.nothing }}`, true},
		"a value of a spec":  {`{{ dateInZone "2006" .Values.at "UTC" }}`, true},
		"a text in a zone":   {`{{ htmlDateInZone "1970" "UTC" }}`, true},
		"the time since":     {`{{ durationRound (toDate "2006" "1970") }}`, true},
		"a duration":         {`{{ durationRound "1h" }}`, false},
		"in a file":          {`{{ tpl "{{ now }}" . }}`, true},
		"in a loop, in tpl":  {`{{ tpl "{{ range list 1 }}{{ uuidv4 }}{{ end }}" . }}`, true},
		"a file without any": {`{{ tpl "1970" . }}`, false},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			renderer := of(map[string]string{"a.yaml": service + "  annotations: {a: " + `"` + test.template + `"` + "}"})
			_, err := renderer.Render(t.Context(), resource(t, widget, `{at: 1970-01-01}`), everyKind)
			if (err != nil) != test.fails {
				t.Errorf("got %v, want an error: %t", err, test.fails)
			}
		})
	}
}

// A loop of the size of the largest spec is none that never ends.
func TestLargeSpecsRender(t *testing.T) {
	list := make([]any, 20000)
	for i := range list {
		list[i] = strings.Repeat("x", 50)
	}
	object := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"list": list}}}
	object.SetGroupVersionKind(widget)
	object.SetName("web")
	renderer := of(map[string]string{"_h.tpl": `{{ define "item" }}{{ . | quote }}{{ end }}`,
		"a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata:\n{{ range $i, $x := .Values.list }}  k{{ $i }}: {{ include \"item\" $x }}\n{{ end }}"})
	if result := unlimited(t, renderer, object); result.Size() < 1<<20 {
		t.Errorf("it renders %d bytes", result.Size())
	}
}
