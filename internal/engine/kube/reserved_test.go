package kube

import "testing"

func TestReservedKeys(t *testing.T) {
	tests := map[string]struct{ label, annotation bool }{ // whether they are reserved
		"team":                                           {false, false},
		"example.com/team":                               {false, false},
		"kubernetes.io.example.com/x":                    {false, false},
		"mykubernetes.io/x":                              {false, false},
		"kueue.x-k8s.io/queue-name":                      {false, false},
		"app.kubernetes.io/component":                    {false, false},
		"app.kubernetes.io/part-of":                      {false, false},
		"app.kubernetes.io/version":                      {false, false},
		"kubernetes.io/cluster-service":                  {true, false},
		"k8s.io/x":                                       {true, false},
		"pod-security.kubernetes.io/enforce":             {true, false},
		"service.kubernetes.io/service-proxy-name":       {true, false},
		"endpointslice.kubernetes.io/managed-by":         {true, false},
		"rbac.authorization.k8s.io/aggregate-to-admin":   {true, false},
		"topology.kubernetes.io/zone":                    {true, false},
		"nginx.ingress.kubernetes.io/rewrite-target":     {true, false},
		"cluster-autoscaler.kubernetes.io/safe-to-evict": {true, false},
		"sub.app.kubernetes.io/x":                        {true, false},
		"pod-template-hash":                              {true, false},
		"controller-revision-hash":                       {true, false},
		"app.example.com/retained-for":                   {true, true},
		"app.example.com/anything":                       {true, true},
		"helm.sh/resource-policy":                        {true, true},
		"meta.helm.sh/release-name":                      {true, true},
		"":                                               {false, false},
		"/":                                              {false, false},
	}
	for key, want := range tests {
		t.Run(key, func(t *testing.T) {
			if got := ReservedLabel(key) != ""; got != want.label {
				t.Errorf("as a label it is reserved: %t, want %t", got, want.label)
			}
			if got := ReservedAnnotation(key) != ""; got != want.annotation {
				t.Errorf("as an annotation it is reserved: %t, want %t", got, want.annotation)
			}
		})
	}
}
