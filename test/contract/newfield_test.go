package contract

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// change is one edit that a maintainer makes for a new field.
type change struct{ file, old, new string }

// newField declares spec.greeting and lets the chart make a pod annotation of it: schema's source, template, default, shape.
var newField = []change{
	{
		"api/v1/appservice_types.go", "type AppServiceSpec struct {\n",
		"type AppServiceSpec struct {\n\t// Greeting of the pods.\n\t// +optional\n\tGreeting string `json:\"greeting,omitempty\"`\n\n",
	},
	{
		"helm-charts/appservice/templates/deployment.yaml", "merge (dict) $checksum",
		`merge (dict "example.com/greeting" .Values.greeting) $checksum`,
	},
	{"helm-charts/appservice/values.yaml", "\nimage: ", "\ngreeting: \"\"\nimage: "},
	{"helm-charts/appservice/values.schema.json", `"image": {`, `"greeting": {"type": "string"}, "image": {`},
}

const greeted = `
apiVersion: app.example.com/v1
kind: AppService
metadata: {name: web, namespace: default, uid: 7f1b2f3e-0000-4000-8000-000000000000}
spec: {image: "nginx:1.29", greeting: "hello: world"}
`

// TestContractNewFieldNeedsNoGo adds a field to a copy of what the operator renders with, and sees it rendered.
func TestContractNewFieldNeedsNoGo(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{"go.mod", "go.sum", "api", "internal", "embed.go", "watches.yaml", "helm-charts"} {
		copyTo(t, filepath.Join(dir, path), filepath.Join(root, path))
	}
	copyTo(t, filepath.Join(dir, "cmd/newfield/main.go"), "testdata/newfield/main.go")
	for _, c := range newField {
		file := filepath.Join(dir, c.file)
		text := read(t, file)
		if strings.Count(text, c.old) != 1 {
			t.Fatalf("%s has %q %d times, want once: adapt newField", c.file, c.old, strings.Count(text, c.old))
		}
		write(t, file, strings.Replace(text, c.old, c.new, 1))
	}
	file := filepath.Join(dir, "cr.yaml")
	write(t, file, greeted)

	command := exec.CommandContext(t.Context(), "go", "run", "./cmd/newfield", file)
	command.Dir = dir
	command.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=", "GOWORK=off", "CGO_ENABLED=0", "PWD="+dir)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	if want := `"example.com/greeting": "hello: world"`; !strings.Contains(string(out), want) {
		t.Errorf("got no %s in\n%s", want, out)
	}
}

// copyTo copies a file or a folder.
func copyTo(t *testing.T, to, from string) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		write(t, to+strings.TrimPrefix(path, from), read(t, path))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
