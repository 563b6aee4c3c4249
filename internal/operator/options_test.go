package operator

import (
	"flag"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	appservice "github.com/example/appservice-operator"
	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/chart"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/watch"
)

// byDefault are the options of a manager that is started without flags.
func byDefault() Options {
	return Options{
		MaxConcurrentReconciles: 16, ReconcileTimeout: 2 * time.Minute, MaxConcurrentRollouts: 10, MaxFailedRollouts: 3, RolloutDeadline: 15 * time.Minute, HistoryMax: 5, MetricsAddress: "0", MetricsSecure: true,
		MetricsCertificate: Certificate{Name: "tls.crt", Key: "tls.key"}, ProbeAddress: "127.0.0.1:8081",
	}
}

func TestFlags(t *testing.T) {
	cases := map[string]struct {
		environment string // WATCH_NAMESPACE
		args        []string
		want        func(*Options)
		err         string
	}{
		"none":                         {want: func(*Options) {}},
		"a namespace from outside":     {environment: "one", want: func(o *Options) { o.WatchNamespaces = []string{"one"} }},
		"namespaces from outside":      {environment: " one, two ,", want: func(o *Options) { o.WatchNamespaces = []string{"one", "two"} }},
		"nothing but commas":           {environment: " , ,", want: func(*Options) {}},
		"namespaces":                   {args: []string{"--watch-namespaces=one,two"}, want: func(o *Options) { o.WatchNamespaces = []string{"one", "two"} }},
		"the flag counts":              {environment: "one", args: []string{"--watch-namespaces", "two"}, want: func(o *Options) { o.WatchNamespaces = []string{"two"} }},
		"the flag may say all":         {environment: "one", args: []string{"--watch-namespaces="}, want: func(*Options) {}},
		"the last of two flags counts": {args: []string{"--watch-namespaces=one", "--watch-namespaces=two"}, want: func(o *Options) { o.WatchNamespaces = []string{"two"} }},
		"everything": {
			args: []string{
				"--watches-file=w.yaml", "--chart-dir=charts", "--policy=p.yaml", "--check", "--watch-namespaces=one", "--max-concurrent-reconciles=3", "--history-max=1", "--leader-elect",
				"--leader-election-namespace=system", "--metrics-bind-address=:8443", "--metrics-secure=false", "--metrics-cert-path=certs",
				"--metrics-cert-name=a.crt", "--metrics-cert-key=a.key", "--enable-http2", "--health-probe-bind-address=0",
			},
			want: func(o *Options) {
				*o = Options{
					WatchesFile: "w.yaml", ChartDir: "charts", Policy: "p.yaml", Check: true, WatchNamespaces: []string{"one"}, MaxConcurrentReconciles: 3, ReconcileTimeout: 2 * time.Minute, MaxConcurrentRollouts: 10, MaxFailedRollouts: 3, RolloutDeadline: 15 * time.Minute, HistoryMax: 1, LeaderElection: true,
					LeaderElectionNamespace: "system", MetricsAddress: ":8443", MetricsCertificate: Certificate{"certs", "a.crt", "a.key"}, HTTP2: true, ProbeAddress: "0",
				}
			},
		},
		"a number that is none":             {args: []string{"--max-concurrent-reconciles=many"}, err: `invalid value "many" for flag -max-concurrent-reconciles`},
		"a flag that is neither on nor off": {args: []string{"--leader-elect=perhaps"}, err: `invalid boolean value "perhaps" for -leader-elect`},
		"a flag that is none":               {args: []string{"--watch-namespace=one"}, err: "flag provided but not defined: -watch-namespace"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Setenv("WATCH_NAMESPACE", test.environment)
			flags := flag.NewFlagSet("manager", flag.ContinueOnError)
			flags.SetOutput(io.Discard)
			var got Options
			got.Bind(flags)
			err := flags.Parse(test.args)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("got %v, want %q", err, test.err)
				}
				return
			}
			require.NoError(t, err)
			want := byDefault()
			test.want(&want)
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got %+v, want %+v", got, want)
			}
		})
	}
}

func TestEveryFlagSaysWhatItIsFor(t *testing.T) {
	flags := flag.NewFlagSet("manager", flag.ContinueOnError)
	(&Options{}).Bind(flags)
	flags.VisitAll(func(f *flag.Flag) {
		if f.Usage == "" || strings.Contains(f.Usage, "\n") {
			t.Errorf("--%s: %q", f.Name, f.Usage)
		}
	})
}

// charts makes a folder that holds files, and the embedded charts below helm-charts.
func chartFiles(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, appservice.Files))
	for name, text := range files {
		file := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	return dir
}

const (
	widget      = "- {group: example.com, version: v1, kind: Widget, chart: helm-charts/appservice}\n"
	moved       = "- {group: app.example.com, version: v1, kind: AppService, chart: elsewhere}\n"
	renamed     = "apiVersion: v2\nname: renamed\nversion: 9.9.9\n"
	oneTemplate = "{apiVersion: v1, kind: ConfigMap, metadata: {name: x}}\n"
)

func TestWatches(t *testing.T) {
	cases := map[string]struct {
		files   map[string]string
		options func(dir string, o *Options)
		want    string // kind, then chart and its version
		err     string
	}{
		"the embedded ones": {nil, func(string, *Options) {}, "AppService appservice 0.1.0", ""},
		"a watches file, its charts beside it": {
			map[string]string{"other.yaml": widget}, func(dir string, o *Options) { o.WatchesFile = filepath.Join(dir, "other.yaml") },
			"Widget appservice 0.1.0", "",
		},
		"a watches file, its charts elsewhere": {
			map[string]string{"conf/other.yaml": widget}, func(dir string, o *Options) { o.WatchesFile, o.ChartDir = filepath.Join(dir, "conf/other.yaml"), dir },
			"Widget appservice 0.1.0", "",
		},
		"the embedded watches, charts of a folder": {
			map[string]string{"helm-charts/appservice/Chart.yaml": renamed}, func(dir string, o *Options) { o.ChartDir = dir },
			"AppService renamed 9.9.9", "",
		},
		"a watches file that names another chart": {
			map[string]string{"w.yaml": moved, "elsewhere/Chart.yaml": renamed, "elsewhere/templates/x.yaml": oneTemplate},
			func(dir string, o *Options) { o.WatchesFile = filepath.Join(dir, "w.yaml") },
			"AppService renamed 9.9.9", "",
		},
		"a watches file that is not there": {nil, func(dir string, o *Options) { o.WatchesFile = filepath.Join(dir, "none.yaml") }, "", "cannot read watches: open "},
		"a watches file without its charts": {
			map[string]string{"conf/other.yaml": widget}, func(dir string, o *Options) { o.WatchesFile = filepath.Join(dir, "conf/other.yaml") },
			"", "helm-charts/appservice",
		},
		"a watches file that does not parse": {
			map[string]string{"w.yaml": "- kind: [\n"}, func(dir string, o *Options) { o.WatchesFile = filepath.Join(dir, "w.yaml") }, "", "cannot parse watches: ",
		},
		"a watches file with a field that is none": {
			map[string]string{"w.yaml": "- {group: a, version: v1, kind: B, chart: helm-charts/appservice, chrat: x}\n"},
			func(dir string, o *Options) { o.WatchesFile = filepath.Join(dir, "w.yaml") },
			"", `unknown field "chrat"`,
		},
		"an empty watches file": {
			map[string]string{"w.yaml": "# nothing\n"}, func(dir string, o *Options) { o.WatchesFile = filepath.Join(dir, "w.yaml") }, "", "nothing to serve",
		},
		"a chart folder without the chart": {
			nil, func(dir string, o *Options) { o.ChartDir = filepath.Join(dir, "helm-charts") },
			"", "helm-charts/app",
		},
		"a chart folder that is not there": {
			nil, func(dir string, o *Options) { o.ChartDir = filepath.Join(dir, "none") }, "", "cannot read the charts: ",
		},
		"a chart that does not parse, of which there is a name": {
			map[string]string{"helm-charts/appservice/templates/broken.yaml": "a: b\nc: {{ .Values.image\n"}, func(dir string, o *Options) { o.ChartDir = dir },
			"AppService appservice  templates/broken.yaml:3 unclosed action started at ", "",
		},
		"a namespace with capitals": {
			nil, func(_ string, o *Options) { o.WatchNamespaces = []string{"shop", "Shop"} }, "",
			`--watch-namespaces (or WATCH_NAMESPACE) has "Shop", which cannot be the name of a namespace: a lowercase RFC 1123 label`,
		},
		"all namespaces by a star":   {nil, func(_ string, o *Options) { o.WatchNamespaces = []string{"*"} }, "", `has "*", which cannot be the name`},
		"a namespace that is a path": {nil, func(_ string, o *Options) { o.WatchNamespaces = []string{"a/b"} }, "", `has "a/b", which cannot be the name`},
		"no reconciles at all":       {nil, func(_ string, o *Options) { o.MaxConcurrentReconciles = 0 }, "", "--max-concurrent-reconciles must be at least 1, not 0"},
		"no rollouts at all":         {nil, func(_ string, o *Options) { o.MaxConcurrentRollouts = 0 }, "", "--max-concurrent-rollouts must be at least 1, not 0"},
		"fewer failures than none":   {nil, func(_ string, o *Options) { o.MaxFailedRollouts = -1 }, "", "--max-failed-rollouts must not be below 0, as -1 is"},
		"a time before it began":     {nil, func(_ string, o *Options) { o.ReconcileTimeout = -1 }, "", "--reconcile-timeout must not be below 0, as -1ns is"},
		"no time for rollouts":       {nil, func(_ string, o *Options) { o.RolloutDeadline = 0 }, "", "--rollout-deadline must be above 0, not 0s"},
		"a certificate that is missing": {
			nil, func(dir string, o *Options) { o.MetricsAddress, o.MetricsCertificate.Path = ":8443", dir }, "",
			"--metrics-cert-path (or METRICS_CERT_PATH) has no certificate tls.crt with its key tls.key: open ",
		},
		"a certificate without TLS": {
			nil, func(_ string, o *Options) {
				o.MetricsAddress, o.MetricsSecure, o.MetricsCertificate.Path = ":8080", false, "certs"
			}, "",
			"--metrics-cert-path (or METRICS_CERT_PATH) is certs, for which --metrics-secure=false has no use",
		},
		"no record at all":           {nil, func(_ string, o *Options) { o.HistoryMax = 0 }, "", "--history-max must be at least 1 and at most 50, not 0"},
		"too many records":           {nil, func(_ string, o *Options) { o.HistoryMax = 51 }, "", "--history-max must be at least 1 and at most 50, not 51"},
		"fewer reconciles than none": {nil, func(_ string, o *Options) { o.MaxConcurrentReconciles = -1 }, "", "--max-concurrent-reconciles must be at least 1, not -1"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			options := byDefault()
			test.options(chartFiles(t, test.files), &options)
			loaded, err := options.charts()
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("got %v, want %q", err, test.err)
				}
				return
			}
			require.NoError(t, err)
			var got []string
			for _, watch := range loaded.list {
				text := watch.Kind + " " + watch.Chart.Metadata.Name + " " + watch.Chart.Metadata.Version
				if broken := loaded.broken[watch.GroupVersionKind]; broken != nil {
					text += strings.TrimPrefix(broken.Error(), "cannot load chart helm-charts/appservice:")
				}
				got = append(got, text)
			}
			if len(got) == 0 || got[0] != test.want && (len(loaded.broken) == 0 || !strings.HasPrefix(got[0], test.want)) { // further kinds may follow
				t.Errorf("got %v, want %s first", got, test.want)
			}
		})
	}
}

func TestNewRefusesBadOptionsBeforeItLooksForACluster(t *testing.T) {
	options := byDefault()
	options.MaxConcurrentReconciles = 0
	if mgr, err := New(nil, options); err == nil || mgr != nil {
		t.Errorf("got %v and %v", mgr, err)
	}
}

func TestManagerOptions(t *testing.T) {
	selected := []byte("- {group: app.example.com, version: v1, kind: AppService, chart: helm-charts/appservice, selector: {matchLabels: {team: a}}}\n")
	plain := []byte("- {group: app.example.com, version: v1, kind: AppService, chart: helm-charts/appservice}\n")
	build := func(t *testing.T, text []byte, change func(*Options)) manager.Options {
		t.Helper()
		list, err := chart.LoadWatches(text, appservice.Files)
		require.NoError(t, err)
		options := byDefault()
		change(&options)
		return managerOptions(options, list, &kube.Informers{})
	}
	t.Run("the caches hold what the operator made, and every resource", func(t *testing.T) {
		out := build(t, plain, func(*Options) {})
		if !out.Cache.DefaultLabelSelector.Matches(labels.Set{v1.LabelManaged: "true"}) || out.Cache.DefaultLabelSelector.Matches(labels.Set{}) {
			t.Errorf("got the selector %s", out.Cache.DefaultLabelSelector)
		}
		want := map[schema.GroupVersionKind]bool{v1.GroupVersion.WithKind(v1.Kind): true, watch.CRDKind: true}
		for object, by := range out.Cache.ByObject {
			kind := object.GetObjectKind().GroupVersionKind()
			if !want[kind] || by.Label == nil || !by.Label.Matches(labels.Set{}) {
				t.Errorf("got the selector %v of %s", by.Label, kind)
			}
			delete(want, kind)
		}
		if len(want) != 0 {
			t.Errorf("the caches do not hold all of %v", want)
		}
		if out.Cache.DefaultNamespaces != nil {
			t.Errorf("got the namespaces %v, want all", out.Cache.DefaultNamespaces)
		}
		if out.Client.Cache == nil || !out.Client.Cache.Unstructured {
			t.Error("resources would be read past the caches")
		}
	})
	t.Run("the selector of watches.yaml chooses resources", func(t *testing.T) {
		for object, by := range build(t, selected, func(*Options) {}).Cache.ByObject {
			if object.GetObjectKind().GroupVersionKind() == watch.CRDKind {
				continue
			}
			if by.Label.Matches(labels.Set{}) || !by.Label.Matches(labels.Set{"team": "a"}) {
				t.Errorf("got the selector %s", by.Label)
			}
		}
	})
	t.Run("namespaces bound the caches", func(t *testing.T) {
		out := build(t, plain, func(o *Options) { o.WatchNamespaces = []string{"one", "two"} })
		for _, namespace := range []string{"one", "two"} {
			if _, found := out.Cache.DefaultNamespaces[namespace]; !found {
				t.Errorf("%s is missing", namespace)
			}
		}
		if len(out.Cache.DefaultNamespaces) != 2 {
			t.Errorf("got %v", out.Cache.DefaultNamespaces)
		}
	})
	t.Run("metrics are for those who may read them, unless that is switched off", func(t *testing.T) {
		for _, secure := range []bool{true, false} {
			out := build(t, plain, func(o *Options) { o.MetricsAddress, o.MetricsSecure = ":8443", secure })
			if out.Metrics.BindAddress != ":8443" || out.Metrics.SecureServing != secure || (out.Metrics.FilterProvider != nil) != secure {
				t.Errorf("secure %t: got %+v", secure, out.Metrics)
			}
		}
	})
	t.Run("a leader gives its lease back", func(t *testing.T) {
		out := build(t, plain, func(o *Options) { o.LeaderElection, o.LeaderElectionNamespace = true, "system" })
		if !out.LeaderElection || out.LeaderElectionNamespace != "system" || !out.LeaderElectionReleaseOnCancel || out.LeaderElectionID != Name {
			t.Errorf("got %+v", out)
		}
	})
}
