package operator

import (
	"crypto/tls"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// Certificate is the certificate that metrics are served with.
type Certificate struct {
	// Path is its folder; empty for one that is generated at the start.
	Path string
	// Name and Key are the files of certificate and key.
	Name, Key string
}

func (o *Options) bindMetrics(flags *flag.FlagSet) {
	flags.StringVar(&o.MetricsAddress, "metrics-bind-address", "0",
		"address to serve metrics on, for example :8443; 0 for none")
	flags.BoolVar(&o.MetricsSecure, "metrics-secure", true, "serve metrics with TLS, to those who may get /metrics")
	flags.StringVar(&o.MetricsCertificate.Path, "metrics-cert-path", os.Getenv("METRICS_CERT_PATH"),
		"folder of the certificate of metrics, which is loaded again when it changes (default: METRICS_CERT_PATH, else a certificate is made at each start)")
	flags.StringVar(&o.MetricsCertificate.Name, "metrics-cert-name", "tls.crt",
		"file of the certificate in --metrics-cert-path")
	flags.StringVar(&o.MetricsCertificate.Key, "metrics-cert-key", "tls.key", "file of its key in --metrics-cert-path")
	flags.BoolVar(&o.HTTP2, "enable-http2", false, "serve metrics with HTTP/2, too")
}

// validateMetrics returns an error if the configured certificate does not exist. The server would generate one itself,
// which would be unexpected.
func (o *Options) validateMetrics() error {
	certificate := o.MetricsCertificate
	if o.MetricsAddress == "0" || certificate.Path == "" {
		return nil
	}
	if !o.MetricsSecure {
		return fmt.Errorf("--metrics-cert-path (or METRICS_CERT_PATH) is %s, for which --metrics-secure=false has no use: leave out one of them", certificate.Path)
	}
	_, err := tls.LoadX509KeyPair(filepath.Join(certificate.Path, certificate.Name),
		filepath.Join(certificate.Path, certificate.Key))
	if err != nil {
		return fmt.Errorf("--metrics-cert-path (or METRICS_CERT_PATH) has no certificate %s with its key %s: %w",
			certificate.Name, certificate.Key, err)
	}
	return nil
}

// metricsServer returns the options of the metrics server.
func (o *Options) metricsServer() server.Options {
	out := server.Options{
		BindAddress: o.MetricsAddress, SecureServing: o.MetricsSecure,
		CertDir: o.MetricsCertificate.Path, CertName: o.MetricsCertificate.Name, KeyName: o.MetricsCertificate.Key,
	}
	if o.MetricsSecure {
		out.FilterProvider = metricsAccess
	}
	if !o.HTTP2 {
		out.TLSOpts = append(out.TLSOpts, func(config *tls.Config) { config.NextProtos = []string{"http/1.1"} })
	}
	return out
}
