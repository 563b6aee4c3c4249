package controlplane

import (
	"strings"
	"testing"
)

func TestFillFromEnvironment(t *testing.T) {
	cases := map[string]struct {
		name, nodes string
		options     Options
		want        Options
		wantErr     bool
	}{
		"nothing is set":         {},
		"both are set":           {name: "mine", nodes: "5", want: Options{Name: "mine", Nodes: 5}},
		"the options come first": {name: "mine", nodes: "5", options: Options{Name: "test", Nodes: 1}, want: Options{Name: "test", Nodes: 1}},
		"no number of nodes":     {nodes: "many", wantErr: true},
		"no nodes":               {nodes: "0", wantErr: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Setenv("CLUSTER_NAME", tc.name)
			t.Setenv("NODES", tc.nodes)
			got, err := tc.options.FillFromEnvironment()
			if (err != nil) != tc.wantErr {
				t.Fatalf("got error %v, want one: %t", err, tc.wantErr)
			}
			if err == nil && got != tc.want {
				t.Errorf("got %+v, want %+v", got, tc.want)
			}
		})
	}
}

func TestFromEnvironmentRefusesWhatItDoesNotKnow(t *testing.T) {
	t.Setenv("CLUSTER", "mine")
	_, err := FromEnvironment(t.Context(), Options{})
	if err == nil || !strings.Contains(err.Error(), "cannot use CLUSTER=mine") {
		t.Errorf("got error %v, want one about CLUSTER", err)
	}
}

func TestOwnKubeconfig(t *testing.T) {
	cases := map[string]struct {
		value   string
		want    string
		wantErr bool
	}{
		"unset":     {value: "", want: "/home/me/.kube/config"},
		"one file":  {value: "/etc/cluster", want: "/etc/cluster"},
		"two files": {value: "/etc/cluster:/etc/other", wantErr: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Setenv("HOME", "/home/me")
			t.Setenv("KUBECONFIG", tc.value)
			got, err := ownKubeconfig()
			if (err != nil) != tc.wantErr || got != tc.want {
				t.Errorf("got %q and error %v, want %q and an error: %t", got, err, tc.want, tc.wantErr)
			}
		})
	}
}
