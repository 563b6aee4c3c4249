package v1

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"sigs.k8s.io/yaml"
)

// FuzzDecode: whatever an AppService is, it is refused, or says the same when it is encoded and decoded again, and so does its copy.
func FuzzDecode(f *testing.F) {
	files, err := filepath.Glob("../../config/samples/*appservice_*.yaml")
	if err != nil || len(files) == 0 {
		f.Fatalf("no samples: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		content, err := yaml.YAMLToJSON(text)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(content)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		first, again := &AppService{}, &AppService{}
		if json.Unmarshal(data, first) != nil {
			return
		}
		encoded, err := json.Marshal(first)
		if err != nil {
			return // a number or a time that JSON has no way to say
		}
		if err := json.Unmarshal(encoded, again); err != nil {
			t.Fatalf("what was encoded cannot be decoded: %v\n%s", err, encoded)
		}
		twice, err := json.Marshal(again)
		if err != nil || string(twice) != string(encoded) {
			t.Errorf("encoded again, it says something else: %v\n%s\n%s", err, encoded, twice)
		}
		if copied := first.DeepCopy(); !reflect.DeepEqual(copied, first) {
			t.Errorf("the copy differs: %+v", copied)
		}
	})
}
