package release

import "testing"

func TestWhoseAnObjectIs(t *testing.T) {
	const ownerUID = "labels: {app.example.com/owner-uid: owner}"
	controlled := func(group, uid string) string {
		return "ownerReferences: [{apiVersion: " + group + "/v1, kind: AppService, name: web, uid: " + uid + ", controller: true}]"
	}
	for name, test := range map[string]struct {
		meta string
		want bool
	}{
		"controlled by the owner":               {controlled("app.example.com", "owner"), true},
		"controlled by another":                 {controlled("app.example.com", "other"), false},
		"controlled by another kind of its UID": {controlled("nobody.example.org", "owner"), false},
		"retained for the owner, with its UID":  {ownerUID + ", annotations: {app.example.com/retained-for: web}", true},
		"retained for another, with its UID":    {ownerUID + ", annotations: {app.example.com/retained-for: db}", false},
		"retained for the owner, without a UID": {"annotations: {app.example.com/retained-for: web}", false},
		"with its UID only":                     {ownerUID, false},
	} {
		claim := object(t, "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, namespace: demo, "+test.meta+"}}")
		if got := controls(owner(t), claim); got != test.want {
			t.Errorf("%s: got %t, want %t", name, got, test.want)
		}
	}
}
