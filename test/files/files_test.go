package files

import "testing"

func TestDecode(t *testing.T) {
	objects, err := Decode([]byte("# a comment\n---\nkind: A\nspec: {size: 3}\n---\n# another\n---\n---\nkind: B\n"))
	if err != nil || len(objects) != 2 || objects[1].GetKind() != "B" {
		t.Fatalf("got %v (error %v), want two objects", objects, err)
	}
	if size := objects[0].Object["spec"].(map[string]any)["size"]; size != int64(3) {
		t.Errorf("got the size %v, a %[1]T", size)
	}
	for name, text := range map[string]string{"no YAML": "a: b: c", "no kind": "kind: A\n---\nspec: {}\n"} {
		if objects, err := Decode([]byte(text)); err == nil {
			t.Errorf("%s: got %v and no error", name, objects)
		}
	}
}
