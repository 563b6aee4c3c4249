package generate

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"
)

// organization is in the subject of every certificate that the operator made: those of others are never renewed.
const organization = "appservice-operator"

// backdated is how long before it was made a certificate is valid: clocks differ.
const backdated = 5 * time.Minute

// pair is a certificate with its key, and all certificates in its file.
type pair struct {
	cert  *x509.Certificate
	key   crypto.Signer
	chain []*x509.Certificate
}

// pairOf reads a pair; nil if it is not one.
func pairOf(cert, key []byte) *pair {
	read, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil
	}
	signer, isSigner := read.PrivateKey.(crypto.Signer)
	if !isSigner {
		return nil
	}
	return &pair{read.Leaf, signer, certificatesIn(cert)}
}

// certificatesIn returns the certificates in a file; whatever else is in it is left out.
func certificatesIn(data []byte) (list []*x509.Certificate) {
	for block, rest := pem.Decode(data); block != nil; block, rest = pem.Decode(rest) {
		if cert, err := x509.ParseCertificate(block.Bytes); err == nil {
			list = append(list, cert)
		}
	}
	return list
}

// ours reports whether the operator made a pair.
func (p *pair) ours() bool {
	return p != nil && slices.Contains(p.cert.Subject.Organization, organization)
}

// renewal returns when a certificate is renewed: after two thirds of its lifetime.
func renewal(cert *x509.Certificate) time.Time {
	return cert.NotBefore.Add(cert.NotAfter.Sub(cert.NotBefore) / 3 * 2).Truncate(time.Second).UTC()
}

// certificates makes the authority and the pair that are missing, or whose time has come, and returns when to look
// again; empty if none are wanted.
func (f *filling) certificates() (renewAfter string, err error) {
	if f.wanted.CA == 0 {
		return "", nil
	}
	authority, err := f.authority()
	if err != nil {
		return "", err
	}
	pairs := []*pair{authority}
	if f.wanted.TLS > 0 {
		signed, err := f.signed(authority)
		if err != nil {
			return "", err
		}
		pairs = append(pairs, signed)
	}
	return earliest(pairs), nil
}

// earliest returns when the first pair that the operator made is renewed.
func earliest(pairs []*pair) string {
	var first time.Time
	for _, each := range pairs {
		if each.ours() && (first.IsZero() || renewal(each.cert).Before(first)) {
			first = renewal(each.cert)
		}
	}
	if first.IsZero() {
		return never
	}
	return first.Format(time.RFC3339)
}

// authority returns the authority that signs; nil if there is one that cannot be read, which is left as it is. A new
// one comes before those that are still valid.
func (f *filling) authority() (*pair, error) {
	there := pairOf(f.have[CACert], f.have[CAKey])
	if f.bothThere(CACert, CAKey) && (!there.ours() || f.Now().Before(renewal(there.cert))) {
		return there, nil
	}
	made, err := f.make(nil, f.wanted.CA, &x509.Certificate{IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign})
	if err != nil {
		return nil, fmt.Errorf("cannot make %s: %w", CACert, err)
	}
	for _, former := range certificatesIn(f.have[CACert]) {
		if f.Now().Before(former.NotAfter) {
			made.chain = append(made.chain, former)
		}
	}
	return made, f.keep(CACert, CAKey, made)
}

// signed returns the pair that an authority signs.
func (f *filling) signed(authority *pair) (*pair, error) {
	there := pairOf(f.have[TLSCert], f.have[TLSKey])
	if f.bothThere(TLSCert, TLSKey) && (!there.ours() || f.fits(there, authority)) {
		return there, nil
	}
	if authority == nil {
		return nil, fmt.Errorf("cannot make %s: %s and %s are not a certificate and its key: delete both keys from the Secret, "+
			"and they are made again", TLSCert, CACert, CAKey)
	}
	made, err := f.make(authority, f.wanted.TLS, &x509.Certificate{DNSNames: strings.Split(f.wanted.For, ","),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}})
	if err != nil {
		return nil, fmt.Errorf("cannot make %s: %w", TLSCert, err)
	}
	return made, f.keep(TLSCert, TLSKey, made)
}

// fits reports whether a pair has the names that are wanted, is signed by an authority, and need not be renewed.
func (f *filling) fits(there, authority *pair) bool {
	return authority != nil && there.cert.CheckSignatureFrom(authority.cert) == nil &&
		strings.Join(there.cert.DNSNames, ",") == f.wanted.For && f.Now().Before(renewal(there.cert))
}

// bothThere reports whether the Secret has both keys of a pair.
func (f *filling) bothThere(cert, key string) bool {
	_, certThere := f.have[cert]
	_, keyThere := f.have[key]
	return certThere && keyThere
}

// make makes a pair that an authority signs, or, if that is nil, the pair itself.
func (f *filling) make(authority *pair, lifetime time.Duration, template *x509.Certificate) (*pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), f.Random)
	if err != nil {
		return nil, err
	}
	if template.SerialNumber, err = rand.Int(f.Random, new(big.Int).Lsh(big.NewInt(1), 127)); err != nil {
		return nil, err
	}
	template.NotBefore = f.Now().Add(-backdated).UTC()
	template.NotAfter = template.NotBefore.Add(backdated + lifetime)
	name := "authority"
	signer, parent := crypto.Signer(key), template
	if authority != nil {
		name, signer, parent = "service", authority.key, authority.cert
		if template.NotAfter.After(parent.NotAfter) {
			template.NotAfter = parent.NotAfter
		}
	}
	template.Subject = pkix.Name{Organization: []string{organization},
		CommonName: fmt.Sprintf("%s %x", name, template.SerialNumber)}
	der, err := x509.CreateCertificate(f.Random, template, parent, key.Public(), signer)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	return &pair{cert, key, []*x509.Certificate{cert}}, nil
}

// keep puts a pair that was made into the Secret.
func (f *filling) keep(cert, key string, made *pair) error {
	der, err := x509.MarshalPKCS8PrivateKey(made.key)
	if err != nil {
		return fmt.Errorf("cannot encode %s: %w", key, err)
	}
	var certs []byte
	for _, each := range made.chain {
		certs = append(certs, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: each.Raw})...)
	}
	f.set(cert, certs)
	f.set(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
	return nil
}
