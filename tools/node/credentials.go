package node

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

// validity is how long certificates last. A node seldom lives for a day.
const validity = 365 * 24 * time.Hour

// authority signs certificates.
type authority struct {
	certificate *x509.Certificate
	key         crypto.Signer
}

// pair is a certificate and its key, both as PEM.
type pair struct{ certificate, key []byte }

// writeCredentials writes the certificates of the components, their kubeconfigs and the administrator's.
func (i *instance) writeCredentials() error {
	if err := os.MkdirAll(i.path("pki"), 0o700); err != nil {
		return err
	}
	key, encoded, err := newKey()
	if err != nil {
		return err
	}
	certificate, err := cert.NewSelfSignedCACert(cert.Config{CommonName: "kubernetes"}, key)
	if err != nil {
		return fmt.Errorf("cannot make certificates: %w", err)
	}
	ca := authority{certificate: certificate, key: key}
	own := pair{pem.EncodeToMemory(&pem.Block{Type: cert.CertificateBlockType, Bytes: certificate.Raw}), encoded}
	if err := i.writePair("ca", own); err != nil {
		return err
	}
	if _, encoded, err = newKey(); err != nil {
		return err
	}
	if err := os.WriteFile(i.path("pki", "service-accounts.key"), encoded, 0o600); err != nil {
		return err
	}
	address := linkOf(i.name).node.String()
	served := x509.Certificate{
		Subject:     pkix.Name{CommonName: "kube-apiserver"},
		DNSNames:    []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"},
		IPAddresses: []net.IP{net.ParseIP("127.0.0.1"), net.ParseIP(apiService), net.ParseIP(address)},
	}
	for name, template := range map[string]x509.Certificate{
		"apiserver":      served,
		"front-proxy":    {Subject: pkix.Name{CommonName: "front-proxy"}},
		"kubelet-client": {Subject: pkix.Name{CommonName: "kube-apiserver", Organization: []string{"system:masters"}}},
	} {
		signed, err := ca.sign(template)
		if err != nil {
			return fmt.Errorf("cannot make certificate %s: %w", name, err)
		}
		if err := i.writePair(name, signed); err != nil {
			return err
		}
	}
	return i.writeKubeconfigs(ca, own.certificate)
}

// writeKubeconfigs writes a kubeconfig for each client of the API server, with the user that Kubernetes has roles for.
func (i *instance) writeKubeconfigs(ca authority, bundle []byte) error {
	users := map[string]pkix.Name{
		i.kubeconfig(): {CommonName: "admin", Organization: []string{"system:masters"}},
		i.path("kube-controller-manager.kubeconfig"): {CommonName: "system:kube-controller-manager"},
		i.path("kube-scheduler.kubeconfig"):          {CommonName: "system:kube-scheduler"},
		i.path("kube-proxy.kubeconfig"):              {CommonName: "system:kube-proxy"},
		i.path(kubelet + ".kubeconfig"):              {CommonName: "system:node:" + i.name, Organization: []string{"system:nodes"}},
	}
	for path, user := range users {
		signed, err := ca.sign(x509.Certificate{Subject: user})
		if err != nil {
			return fmt.Errorf("cannot make a certificate for %s: %w", user.CommonName, err)
		}
		config := clientcmdapi.NewConfig()
		config.Clusters[i.name] = &clientcmdapi.Cluster{
			Server: "https://" + net.JoinHostPort(linkOf(i.name).node.String(), apiPort), CertificateAuthorityData: bundle,
		}
		config.AuthInfos[i.name] = &clientcmdapi.AuthInfo{ClientCertificateData: signed.certificate, ClientKeyData: signed.key}
		config.Contexts[i.name] = &clientcmdapi.Context{Cluster: i.name, AuthInfo: i.name}
		config.CurrentContext = i.name
		if err := clientcmd.WriteToFile(*config, path); err != nil {
			return fmt.Errorf("cannot write %s: %w", path, err)
		}
	}
	return nil
}

func (i *instance) writePair(name string, p pair) error {
	if err := os.WriteFile(i.path("pki", name+".crt"), p.certificate, 0o644); err != nil {
		return err
	}
	return os.WriteFile(i.path("pki", name+".key"), p.key, 0o600)
}

// sign returns a certificate for servers and clients, with a key of its own.
func (a authority) sign(template x509.Certificate) (pair, error) {
	key, encoded, err := newKey()
	if err != nil {
		return pair{}, err
	}
	if template.SerialNumber, err = rand.Int(rand.Reader, big.NewInt(1<<62)); err != nil {
		return pair{}, err
	}
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Minute), time.Now().Add(validity)
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	der, err := x509.CreateCertificate(rand.Reader, &template, a.certificate, key.Public(), a.key)
	return pair{certificate: pem.EncodeToMemory(&pem.Block{Type: cert.CertificateBlockType, Bytes: der}), key: encoded}, err
}

// newKey returns a key, also as PEM.
func newKey() (crypto.Signer, []byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	encoded, err := keyutil.MarshalPrivateKeyToPEM(key)
	return key, encoded, err
}
