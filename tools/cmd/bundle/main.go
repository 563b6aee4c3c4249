// Command bundle completes the bundle that operator-sdk has generated, so that it says all that catalogs show and is
// the same whenever it is generated from the same files. "make bundle" runs it:
//
//	go run ./tools/cmd/bundle -scorecard-image example.com/appservice-operator-scorecard:v0.2.0
package main

import (
	"encoding/base64"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/example/appservice-operator/tools/kinds"
	"github.com/example/appservice-operator/tools/toolchain"
)

const (
	base      = "config/manifests/bases/appservice-operator.clusterserviceversion.yaml"
	icon      = "config/manifests/icon.svg"
	version   = "manifests/appservice-operator.clusterserviceversion.yaml"
	scorecard = "tests/scorecard/config.yaml"

	// placeholder stands for the image of our scorecard tests in config/scorecard.
	placeholder = "image: scorecard:latest"
)

func main() {
	dir := flag.String("dir", "bundle", "the folder of the bundle, seen from the repository's root")
	tests := flag.String("scorecard-image", "", "the image of test/scorecard")
	flag.Parse()
	root, err := toolchain.Root()
	if err == nil {
		err = complete(root, filepath.Join(root, *dir), *tests)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bundle:", err)
		os.Exit(1)
	}
}

// complete writes the ClusterServiceVersion and the scorecard's configuration in folder dir again.
func complete(root, dir, tests string) error {
	source, err := read(filepath.Join(root, base))
	if err != nil {
		return err
	}
	picture, err := os.ReadFile(filepath.Join(root, icon))
	if err != nil {
		return err
	}
	csv, err := read(filepath.Join(dir, version))
	if err != nil {
		return err
	}
	if err := describe(csv, source.GetAnnotations()["createdAt"], picture); err != nil {
		return fmt.Errorf("cannot complete %s: %w", version, err)
	}
	if err := kinds.DescribeFields(root, csv.Object); err != nil {
		return err
	}
	text, err := yaml.Marshal(csv.Object)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, version), text, 0o644); err != nil {
		return err
	}
	config, err := os.ReadFile(filepath.Join(dir, scorecard))
	if err != nil {
		return err
	}
	config = []byte(strings.ReplaceAll(string(config), placeholder, "image: "+tests))
	return os.WriteFile(filepath.Join(dir, scorecard), config, 0o644)
}

// describe adds what operator-sdk leaves out, and removes the time at which it ran.
func describe(csv *unstructured.Unstructured, created string, picture []byte) error {
	image, err := managerImage(csv)
	if err != nil {
		return err
	}
	annotations := csv.GetAnnotations()
	annotations["createdAt"] = created
	annotations["containerImage"] = image
	// A mirror can only be used for images that are named by digest.
	annotations["features.operators.openshift.io/disconnected"] = strconv.FormatBool(strings.Contains(image, "@sha256:"))
	csv.SetAnnotations(annotations)
	spec := csv.Object["spec"].(map[string]any)
	spec["relatedImages"] = []any{map[string]any{"name": "manager", "image": image}}
	spec["icon"] = []any{map[string]any{
		"base64data": base64.StdEncoding.EncodeToString(picture), "mediatype": "image/svg+xml",
	}}
	return nil
}

// managerImage returns the image of the only container of the only Deployment.
func managerImage(csv *unstructured.Unstructured) (string, error) {
	deployment, err := only(csv.Object, "spec", "install", "spec", "deployments")
	if err != nil {
		return "", err
	}
	container, err := only(deployment, "spec", "template", "spec", "containers")
	if err != nil {
		return "", err
	}
	image, _, err := unstructured.NestedString(container, "image")
	return image, err
}

// only returns the only element of a list of objects.
func only(within map[string]any, path ...string) (map[string]any, error) {
	list, _, err := unstructured.NestedSlice(within, path...)
	if err != nil {
		return nil, err
	}
	if len(list) != 1 {
		return nil, fmt.Errorf("it has %d %s, want one", len(list), path[len(path)-1])
	}
	return list[0].(map[string]any), nil
}

func read(path string) (*unstructured.Unstructured, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(text, &object.Object); err != nil {
		return nil, fmt.Errorf("cannot parse %s: %w", path, err)
	}
	return object, nil
}
