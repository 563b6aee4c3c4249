//go:build cluster

package integration

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/example/appservice-operator/internal/operator"
	"github.com/example/appservice-operator/test/files"
	"github.com/example/appservice-operator/test/harness"
)

// Metrics are for those who may read them, under the configured certificate, which changes once it is renewed; and HTTP/2 is for
// those who ask for it at the start.
func TestMetricsAreServedWithTheCertificateThatIsGiven(t *testing.T) {
	t.Parallel()
	namespace, certificates := cluster.Namespace(t), newCertificates(t)
	first := certificates.issue(t)
	address := serveMetrics(t, namespace, certificates.folder, false)
	nobody, reader := tokenOf(t, namespace, "nobody"), tokenOf(t, namespace, "reader")
	grantEverywhere(t, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "reader"}}, "reads-metrics",
		[]rbacv1.PolicyRule{{NonResourceURLs: []string{"/metrics"}, Verbs: []string{"get"}}})

	harness.Eventually(t, "metrics are served to whom may read them", func() error { return scrape(t, address, first, reader, http.StatusOK, 1) })
	for token, status := range map[string]int{"": http.StatusUnauthorized, nobody: http.StatusForbidden} {
		assert.NoError(t, scrape(t, address, first, token, status, 1))
	}

	second := certificates.issue(t)
	harness.Eventually(t, "the new certificate is served", func() error { return scrape(t, address, second, reader, http.StatusOK, 1) })

	spoken := serveMetrics(t, cluster.Namespace(t), certificates.folder, true)
	harness.Eventually(t, "HTTP/2 is spoken where it is asked for", func() error { return scrape(t, spoken, second, reader, http.StatusOK, 2) })
}

// serveMetrics starts a manager that serves metrics and asks to lead, as one that is deployed, and returns their address.
func serveMetrics(t *testing.T, namespace, folder string, http2 bool) string {
	t.Helper()
	address := harness.FreeAddress(t)
	cluster.Manager(t, namespace, func(options *operator.Options, _ *harness.Requests) {
		options.MetricsAddress, options.MetricsSecure, options.HTTP2 = address, true, http2
		options.LeaderElection, options.LeaderElectionNamespace = true, namespace
		options.MetricsCertificate = operator.Certificate{Path: folder, Name: "tls.crt", Key: "tls.key"}
	})
	return address
}

// scrape requests the metrics, trusting one authority, by the newest protocol that the server speaks.
func scrape(t *testing.T, address string, authority *x509.CertPool, token string, status, protocol int) error {
	t.Helper()
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: authority}, ForceAttemptHTTP2: true}
	defer transport.CloseIdleConnections()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+address+"/metrics", nil)
	if err != nil {
		return err
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	size, err := io.Copy(io.Discard, response.Body)
	if err != nil || response.StatusCode != status || response.ProtoMajor != protocol || status == http.StatusOK && size == 0 {
		return fmt.Errorf("got status %d by HTTP/%d with %d bytes and error %w, want %d by HTTP/%d", response.StatusCode, response.ProtoMajor, size, err, status, protocol)
	}
	return nil
}

// tokenOf makes a service account and a token of it.
func tokenOf(t *testing.T, namespace, name string) string {
	t.Helper()
	clients, err := kubernetes.NewForConfig(cluster.Config)
	require.NoError(t, err)
	accounts := clients.CoreV1().ServiceAccounts(namespace)
	if _, err := accounts.Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	request, err := accounts.CreateToken(context.WithoutCancel(t.Context()), name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	require.NoError(t, err)
	return request.Status.Token
}

// certificates are those of a Secret that the kubelet mounts as a folder.
type certificates struct {
	folder string
	issued int64
}

func newCertificates(t *testing.T) *certificates { return &certificates{folder: t.TempDir()} }

// issue creates a certificate of a new authority, and writes it as the kubelet does: behind a link, atomically.
func (c *certificates) issue(t *testing.T) *x509.CertPool {
	t.Helper()
	c.issued++
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(c.issued), Subject: pkix.Name{CommonName: fmt.Sprint("certificate ", c.issued)}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	encodedKey, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	authority := x509.NewCertPool()
	version := fmt.Sprint("..", c.issued)
	require.NoError(t, os.Mkdir(filepath.Join(c.folder, version), 0o700))
	for name, block := range map[string]*pem.Block{"tls.crt": {Type: "CERTIFICATE", Bytes: certificate}, "tls.key": {Type: "PRIVATE KEY", Bytes: encodedKey}} {
		text := pem.EncodeToMemory(block)
		authority.AppendCertsFromPEM(text)
		files.Write(t, filepath.Join(c.folder, version, name), string(text))
		if c.issued == 1 {
			c.link(t, filepath.Join("..data", name), name)
		}
	}
	c.link(t, version, "..data")
	return authority
}

// link creates or replaces a link in the folder.
func (c *certificates) link(t *testing.T, target, name string) {
	t.Helper()
	partial := filepath.Join(c.folder, name+".new")
	require.NoError(t, os.Symlink(target, partial))
	require.NoError(t, os.Rename(partial, filepath.Join(c.folder, name)))
}
