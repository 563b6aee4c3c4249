package render

import "testing"

// cert-manager refuses an Ingress with two certificates in one Secret.
func TestEachCertificateOfAnIssuerHasASecretOfItsOwn(t *testing.T) {
	ingress := find(t, rendered(t, shipped(t), appService(t, `
  image: nginx
  ports: [{port: 80}]
  ingress:
    hosts: [{host: a.example.com}, {host: b.example.com}, {host: c.example.com}]
    tls: [{hosts: [a.example.com]}, {hosts: [b.example.com]}, {secretName: mine, hosts: [c.example.com]}]
    issuer: letsencrypt
`)), "Ingress", "web")
	names := map[any]bool{}
	for _, entry := range ingress.Object["spec"].(map[string]any)["tls"].([]any) {
		names[entry.(map[string]any)["secretName"]] = true
	}
	if len(names) != 3 || !names["web-tls"] || !names["mine"] {
		t.Errorf("got Secrets %v, want three, web-tls and mine among them", names)
	}
}
