package translate

import (
	"cmp"
	"slices"
	"strconv"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/utils/ptr"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/plugin/importer/read"
)

// toIngress converts the hosts and paths that lead to the Service.
func (a *Application) toIngress(spec *v1.AppServiceSpec) {
	given := a.ingress.Read
	out := &v1.Ingress{ClassName: given.Spec.IngressClassName}
	annotations := foreignAnnotations(given.Annotations)
	const issuer, clusterIssuer = "cert-manager.io/issuer", "cert-manager.io/cluster-issuer"
	if out.Issuer = annotations[issuer]; out.Issuer != "" {
		delete(annotations, issuer)
	} else if out.ClusterIssuer = annotations[clusterIssuer]; out.ClusterIssuer != "" {
		delete(annotations, clusterIssuer)
	}
	out.Annotations, out.Hosts = asAnnotations(annotations), []v1.IngressHost{}
	for _, rule := range given.Spec.Rules {
		if rule.HTTP == nil {
			continue
		}
		var paths []v1.IngressPath
		for _, path := range rule.HTTP.Paths {
			if port, ours := a.backend(path.Backend); ours {
				to := v1.IngressPath{Path: cmp.Or(path.Path, "/"),
					PathType: ptr.Deref(path.PathType, networkingv1.PathTypeImplementationSpecific)}
				if port != 0 {
					to.Port = &port
				}
				paths = append(paths, to)
			}
		}
		if len(paths) == 0 {
			continue
		}
		if rule.Host == "" {
			anyHost := made(&out.AnyHost)
			anyHost.Paths = append(anyHost.Paths, paths...)
			continue
		}
		if at := slices.IndexFunc(out.Hosts, func(h v1.IngressHost) bool { return h.Host == rule.Host }); at >= 0 {
			out.Hosts[at].Paths = append(out.Hosts[at].Paths, paths...)
		} else {
			out.Hosts = append(out.Hosts, v1.IngressHost{Host: rule.Host, Paths: paths})
		}
	}
	for _, tls := range given.Spec.TLS {
		hosts := slices.DeleteFunc(slices.Clone(tls.Hosts), func(host string) bool {
			return !slices.ContainsFunc(out.Hosts, func(h v1.IngressHost) bool { return h.Host == host })
		})
		if len(hosts) > 0 {
			out.TLS = append(out.TLS, v1.IngressTLS{SecretName: tls.SecretName, Hosts: hosts})
		}
	}
	if b := given.Spec.DefaultBackend; b != nil {
		if port, ours := a.backend(*b); ours {
			out.DefaultBackend = &v1.IngressDefaultBackend{Port: &port}
		}
	}
	if out.AnyHost != nil || out.DefaultBackend != nil {
		a.Notes.AddOnce(read.Note{Object: read.Describe(a.ingress.Object), Field: "spec",
			Reason: "it gets requests to hosts that nobody names, which a platform that tenants share has to allow",
			Remedy: "have wildcardHosts allowed for the namespace, or name the hosts in spec.ingress.hosts"})
	}
	if len(out.Hosts) > 0 || out.AnyHost != nil || out.DefaultBackend != nil {
		spec.Ingress = out
	}
}

// backend returns the number in spec.ports of the port of an imported Service that a backend refers to.
func (a *Application) backend(b networkingv1.IngressBackend) (int32, bool) {
	if b.Service == nil {
		return 0, false
	}
	port := a.entryOf(b.Service.Name, cmp.Or(b.Service.Port.Name, strconv.Itoa(int(b.Service.Port.Number))))
	return port, port != 0
}
