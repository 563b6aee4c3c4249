package status

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1 "github.com/example/appservice-operator/api/v1"
)

func service(ports ...corev1.ServicePort) *corev1.Service {
	return &corev1.Service{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: "web"},
		Spec:       corev1.ServiceSpec{ClusterIP: "10.0.0.1", Ports: ports},
	}
}

func named(name string) *corev1.Service {
	s := service(corev1.ServicePort{Port: 80})
	s.Name = name
	return s
}

// marked is a Service with a label that says which one it is.
func marked(name, label string) *corev1.Service {
	s := named(name)
	s.Labels = map[string]string{label: name}
	return s
}

func headless(port int32, target intstr.IntOrString) *corev1.Service {
	s := service(corev1.ServicePort{Port: port, Protocol: corev1.ProtocolTCP, TargetPort: target})
	s.Spec.ClusterIP, s.Spec.Selector = corev1.ClusterIPNone, map[string]string{"app": "web"}
	return s
}

// pods have a port and a label.
func pods(app string, number int32) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": app}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Ports: []corev1.ContainerPort{
			{Name: "http", ContainerPort: number, Protocol: corev1.ProtocolTCP},
		}}}},
	}
}

// exposed is a Deployment whose pods have a port.
func exposed() client.Object {
	out := deployment(counts{1, 1, 1, 1})
	out.Spec.Template = pods("web", 8080)
	return out
}

func stateful(name, app string, number int32) client.Object {
	return &appsv1.StatefulSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "StatefulSet"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: name},
		Spec:       appsv1.StatefulSetSpec{Template: pods(app, number)},
	}
}

func alias(host string, ports ...corev1.ServicePort) client.Object {
	out := service(ports...)
	out.Spec.Type, out.Spec.ClusterIP, out.Spec.ExternalName = corev1.ServiceTypeExternalName, "", host
	return out
}

// site is a host of an Ingress and its paths.
type site struct {
	host  string
	paths []string
}

func ingress(secure []string, sites ...site) *networkingv1.Ingress {
	out := &networkingv1.Ingress{
		TypeMeta:   metav1.TypeMeta{APIVersion: "networking.k8s.io/v1", Kind: "Ingress"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: "web"},
	}
	if secure != nil {
		out.Spec.TLS = []networkingv1.IngressTLS{{Hosts: secure, SecretName: "web-tls"}}
	}
	for _, site := range sites {
		rule := networkingv1.IngressRule{Host: site.host}
		if site.paths != nil {
			rule.HTTP = &networkingv1.HTTPIngressRuleValue{}
			for _, path := range site.paths {
				rule.HTTP.Paths = append(rule.HTTP.Paths, networkingv1.HTTPIngressPath{Path: path, PathType: ptr.To(networkingv1.PathTypePrefix)})
			}
		}
		out.Spec.Rules = append(out.Spec.Rules, rule)
	}
	return out
}

func balanced(addresses ...corev1.LoadBalancerIngress) client.Object {
	out := service(corev1.ServicePort{Port: 8080})
	out.Spec.Type = corev1.ServiceTypeLoadBalancer
	out.Status.LoadBalancer.Ingress = addresses
	return out
}

func route(spec string) client.Object {
	out := &unstructured.Unstructured{Object: map[string]any{}}
	if err := yaml.Unmarshal([]byte("{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: web, namespace: demo}, spec: "+spec+"}"), &out.Object); err != nil {
		panic(err)
	}
	return out
}

// A wildcard is nothing to click on.
func TestAWildcardIsNoURL(t *testing.T) {
	got := v1.AppServiceStatus{}
	objects := snapshot(t, ingress(nil, site{"*.example.com", []string{"/"}}), service(corev1.ServicePort{Port: 80}))
	endpoints(&got, Input{Resource: resource(), Snapshot: objects})
	if len(got.Endpoints) != 2 || got.URL != "http://web.demo.svc" {
		t.Errorf("got %s of %v", got.URL, got.Endpoints)
	}
}

func TestEndpoints(t *testing.T) {
	cluster := func(name, url string) v1.Endpoint {
		return v1.Endpoint{Name: name, Scope: v1.ScopeCluster, URL: url}
	}
	node := func(name, url string) v1.Endpoint {
		return v1.Endpoint{Name: name, Scope: v1.ScopeNode, URL: url}
	}
	external := func(url string) v1.Endpoint { return v1.Endpoint{Scope: v1.ScopeExternal, URL: url} }
	http := corev1.ServicePort{Name: "http", Port: 80, Protocol: corev1.ProtocolTCP}
	cases := map[string]struct {
		objects []client.Object
		want    []v1.Endpoint
	}{
		"nothing":                   {},
		"a Service of another name": {objects: []client.Object{named("other")}},
		"a Service without ports":   {objects: []client.Object{service()}},
		"a port":                    {[]client.Object{service(corev1.ServicePort{Port: 8080})}, []v1.Endpoint{cluster("", "http://web.demo.svc:8080")}},
		"the port of http":          {[]client.Object{service(http)}, []v1.Endpoint{cluster("http", "http://web.demo.svc")}},
		"the port of https":         {[]client.Object{service(corev1.ServicePort{Port: 443})}, []v1.Endpoint{cluster("", "https://web.demo.svc")}},
		"a headless Service":        {[]client.Object{headless(80, intstr.FromInt32(80))}, []v1.Endpoint{cluster("", "http://web.demo.svc")}},
		"a headless Service, which translates no port": {
			[]client.Object{headless(80, intstr.FromInt32(8080))}, []v1.Endpoint{cluster("", "http://web.demo.svc:8080")},
		},
		"a headless Service of https": {
			[]client.Object{headless(443, intstr.FromInt32(8443))}, []v1.Endpoint{cluster("", "https://web.demo.svc:8443")},
		},
		"a headless Service with a target by name": {
			[]client.Object{headless(80, intstr.FromString("http"))}, []v1.Endpoint{cluster("", "http://web.demo.svc")},
		},
		"a headless Service with a target by a name that pods have": {
			[]client.Object{headless(80, intstr.FromString("http")), exposed()}, []v1.Endpoint{cluster("", "http://web.demo.svc:8080")},
		},
		"a headless Service of a StatefulSet": {
			[]client.Object{headless(80, intstr.FromString("http")), stateful("db", "web", 5000)}, []v1.Endpoint{cluster("", "http://web.demo.svc:5000")},
		},
		"a headless Service and pods of others": {
			[]client.Object{headless(80, intstr.FromString("http")), stateful("db", "other", 5000)}, []v1.Endpoint{cluster("", "http://web.demo.svc")},
		},
		"a Service that is an alias":            {[]client.Object{alias("db.example.com", corev1.ServicePort{Port: 5432, AppProtocol: ptr.To("postgresql")})}, []v1.Endpoint{cluster("", "postgresql://db.example.com:5432")}},
		"a Service that is an alias of no port": {[]client.Object{alias("db.example.com")}, nil},
		"a target port is nothing to other Services": {
			[]client.Object{service(corev1.ServicePort{Port: 80, TargetPort: intstr.FromInt32(8080)})}, []v1.Endpoint{cluster("", "http://web.demo.svc")},
		},
		"a node port": {
			[]client.Object{service(corev1.ServicePort{Port: 80, NodePort: 30002})},
			[]v1.Endpoint{cluster("", "http://web.demo.svc"), node("", "http://NODE:30002")},
		},
		"a node port of https": {
			[]client.Object{service(corev1.ServicePort{Name: "https", Port: 8443, NodePort: 443})},
			[]v1.Endpoint{cluster("https", "https://web.demo.svc:8443"), node("https", "https://NODE")},
		},
		"several ports, those of the cluster first": {
			[]client.Object{service(http, corev1.ServicePort{Name: "dns", Port: 53, Protocol: corev1.ProtocolUDP, NodePort: 30053}, corev1.ServicePort{Name: "dns-tcp", Port: 53, Protocol: corev1.ProtocolTCP, AppProtocol: ptr.To("tcp")})},
			[]v1.Endpoint{cluster("http", "http://web.demo.svc"), cluster("dns", "udp://web.demo.svc:53"), cluster("dns-tcp", "tcp://web.demo.svc:53"), node("dns", "udp://NODE:30053")},
		},
		"an Ingress comes first": {
			[]client.Object{service(http), ingress(nil, site{"web.example.com", []string{"/"}})},
			[]v1.Endpoint{external("http://web.example.com"), cluster("http", "http://web.demo.svc")},
		},
		"an Ingress with TLS for one of its hosts": {
			[]client.Object{ingress([]string{"b.example.com"}, site{"a.example.com", []string{"/"}}, site{"b.example.com", []string{"/"}})},
			[]v1.Endpoint{external("http://a.example.com"), external("https://b.example.com")},
		},
		"an Ingress with paths": {
			[]client.Object{ingress([]string{"a.example.com"}, site{"a.example.com", []string{"/", "/api", "/static/"}})},
			[]v1.Endpoint{external("https://a.example.com"), external("https://a.example.com/api"), external("https://a.example.com/static")},
		},
		"a load balancer comes before the cluster": {
			[]client.Object{balanced(corev1.LoadBalancerIngress{IP: "192.0.2.1"}, corev1.LoadBalancerIngress{IP: "2001:db8::1"}, corev1.LoadBalancerIngress{Hostname: "lb.example.com"})},
			[]v1.Endpoint{external("http://192.0.2.1:8080"), external("http://[2001:db8::1]:8080"), external("http://lb.example.com:8080"), cluster("", "http://web.demo.svc:8080")},
		},
		"a load balancer with TLS, which keeps its port": {
			[]client.Object{func() client.Object {
				out := balanced(corev1.LoadBalancerIngress{IP: "192.0.2.1"}).(*corev1.Service)
				out.Spec.Ports = []corev1.ServicePort{{Name: "https", Port: 8443, NodePort: 30843}}
				return out
			}()},
			[]v1.Endpoint{
				{Name: "https", Scope: v1.ScopeExternal, URL: "https://192.0.2.1:8443"}, cluster("https", "https://web.demo.svc:8443"), node("https", "https://NODE:30843"),
			},
		},
		"a Service with a name of its own": {[]client.Object{marked("shop", v1.LabelMainService), named("other")}, []v1.Endpoint{cluster("", "http://shop.demo.svc")}},
		"further Services": {
			[]client.Object{marked("b", v1.LabelService), marked("a", v1.LabelService), service(http)},
			[]v1.Endpoint{cluster("http", "http://web.demo.svc"), cluster("", "http://a.demo.svc"), cluster("", "http://b.demo.svc")},
		},
		"a further Service that has the name of the resource": {
			[]client.Object{marked("web", v1.LabelService), marked("shop", v1.LabelMainService)},
			[]v1.Endpoint{cluster("", "http://shop.demo.svc"), cluster("", "http://web.demo.svc")},
		},
		"a load balancer that is a further Service": {
			[]client.Object{service(http), func() client.Object {
				out := balanced(corev1.LoadBalancerIngress{IP: "192.0.2.1"}).(*corev1.Service)
				out.Name, out.Labels = "public", map[string]string{v1.LabelService: "public"}
				return out
			}()},
			[]v1.Endpoint{external("http://192.0.2.1:8080"), cluster("http", "http://web.demo.svc"), cluster("", "http://public.demo.svc:8080")},
		},
		"a load balancer without address": {[]client.Object{balanced()}, []v1.Endpoint{cluster("", "http://web.demo.svc:8080")}},
		"a route": {
			[]client.Object{route(`{parentRefs: [{name: edge}], hostnames: [a.example.com, b.example.com], rules: [{}]}`), service(http)},
			[]v1.Endpoint{external("http://a.example.com"), external("http://b.example.com"), cluster("http", "http://web.demo.svc")},
		},
		"a route with paths": {
			[]client.Object{route(`{parentRefs: [{name: edge}], hostnames: [a.example.com], rules: [{matches: [{path: {type: PathPrefix, value: /}}, {path: {type: Exact, value: /api}}]}, {matches: [{path: {type: RegularExpression, value: "/x.*"}}, {path: {value: /api}}]}]}`)},
			[]v1.Endpoint{external("http://a.example.com"), external("http://a.example.com/api")},
		},
		"a route for every host":        {[]client.Object{route(`{parentRefs: [{name: edge}], rules: [{}]}`)}, nil},
		"a route without a Gateway":     {[]client.Object{route(`{hostnames: [a.example.com], rules: [{}]}`)}, nil},
		"an Ingress rule without paths": {[]client.Object{ingress(nil, site{"a.example.com", nil})}, nil},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			got := v1.AppServiceStatus{URL: "old", Endpoints: []v1.Endpoint{external("old")}}
			endpoints(&got, Input{Resource: resource(), Snapshot: snapshot(t, test.objects...)})
			assert.Equal(t, test.want, got.Endpoints)
			want := ""
			if len(test.want) > 0 {
				want = test.want[0].URL
			}
			assert.Equal(t, want, got.URL, "URL")
		})
	}
}

func TestAddress(t *testing.T) {
	cases := map[string]struct {
		port   corev1.ServicePort
		number int32
		want   string
	}{
		"no hint":                         {corev1.ServicePort{Port: 8080}, 8080, "http://host:8080"},
		"port 80":                         {corev1.ServicePort{Port: 80}, 80, "http://host"},
		"port 443":                        {corev1.ServicePort{Port: 443}, 443, "https://host"},
		"port 443 by its node port":       {corev1.ServicePort{Port: 443, NodePort: 30443}, 30443, "https://host:30443"},
		"the name https":                  {corev1.ServicePort{Name: "https", Port: 8443}, 8443, "https://host:8443"},
		"a name that begins with https":   {corev1.ServicePort{Name: "https-admin", Port: 8443}, 8443, "https://host:8443"},
		"the name http":                   {corev1.ServicePort{Name: "http", Port: 8080}, 8080, "http://host:8080"},
		"http on port 443 is said so":     {corev1.ServicePort{Port: 443, AppProtocol: ptr.To("http")}, 443, "http://host:443"},
		"https on port 80 is said so":     {corev1.ServicePort{Port: 80, AppProtocol: ptr.To("https")}, 80, "https://host:80"},
		"https in capitals":               {corev1.ServicePort{Port: 8443, AppProtocol: ptr.To("HTTPS")}, 8443, "https://host:8443"},
		"http over http/2":                {corev1.ServicePort{Port: 8080, AppProtocol: ptr.To("kubernetes.io/h2c")}, 8080, "http://host:8080"},
		"websockets":                      {corev1.ServicePort{Port: 8080, AppProtocol: ptr.To("kubernetes.io/ws")}, 8080, "http://host:8080"},
		"websockets with TLS":             {corev1.ServicePort{Port: 8080, AppProtocol: ptr.To("kubernetes.io/wss")}, 8080, "https://host:8080"},
		"grpc":                            {corev1.ServicePort{Port: 50051, AppProtocol: ptr.To("grpc")}, 50051, "grpc://host:50051"},
		"another protocol":                {corev1.ServicePort{Port: 5432, AppProtocol: ptr.To("postgresql")}, 5432, "postgresql://host:5432"},
		"UDP":                             {corev1.ServicePort{Port: 53, Protocol: corev1.ProtocolUDP}, 53, "udp://host:53"},
		"SCTP":                            {corev1.ServicePort{Port: 80, Protocol: corev1.ProtocolSCTP}, 80, "sctp://host:80"},
		"UDP on port 443":                 {corev1.ServicePort{Port: 443, Protocol: corev1.ProtocolUDP}, 443, "udp://host:443"},
		"a protocol of somebody's domain": {corev1.ServicePort{Port: 9000, AppProtocol: ptr.To("example.com/custom")}, 9000, "http://host:9000"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			got := address(test.port, "host", test.number)
			assert.Equal(t, test.want, got)
			if parsed, err := url.Parse(got); err != nil || parsed.Hostname() != "host" {
				t.Errorf("%q is not the URL of a host: %v", got, err)
			}
		})
	}
}
