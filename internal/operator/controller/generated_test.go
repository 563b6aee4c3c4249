package controller

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

func TestTheLogSaysWhenCertificatesEnd(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: "web-tls"}, Data: map[string][]byte{
		"tls.crt": pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), "tls.key": []byte("hunter2"), "ca.crt": []byte("none")}}
	var lines []string
	ctx := log.IntoContext(t.Context(), funcr.New(func(_, args string) { lines = append(lines, args) }, funcr.Options{}))
	r := &Reconciler{Live: fake.NewClientBuilder().WithObjects(secret).Build()}
	r.logCertificates(ctx, "demo", map[string][]string{"web-tls": {"ca.crt", "ca.key", "tls.crt", "tls.key"}, "gone": {"ca.crt"}})
	require.Len(t, lines, 1)
	assert.Contains(t, lines[0], `"secret"="web-tls" "key"="tls.crt" "ends"="2027-03-01 12:00:00 +0000 UTC"`)
}
