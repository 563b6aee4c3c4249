package olm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/test/harness"
	"github.com/example/appservice-operator/tools/controlplane"
	"github.com/example/appservice-operator/tools/toolchain"
)

// olmModule is where OLM's CRDs are.
const olmModule = "github.com/operator-framework/operator-lifecycle-manager"

// laboratory is a control plane with OLM beside it.
type laboratory struct {
	client  client.Client
	cluster *controlplane.Cluster
	folder  string
	address string // of the catalog's server

	processes []*exec.Cmd
	logs      map[string]*bytes.Buffer
}

// start brings everything up. What it returns must be stopped, even with an error.
func start(ctx context.Context) (*laboratory, error) {
	programs, err := toolchain.Ensure(ctx, os.Stderr, "opm", "olm-catalog", "olm-operator")
	if err != nil {
		return nil, err
	}
	l := &laboratory{logs: map[string]*bytes.Buffer{}}
	if l.folder, err = os.MkdirTemp("", "olm-"); err != nil {
		return nil, err
	}
	if l.cluster, err = controlplane.Up(ctx, controlplane.Options{Name: clusterName, Progress: os.Stderr}); err != nil {
		return l, err
	}
	config, err := clientcmd.BuildConfigFromFlags("", l.cluster.Kubeconfig)
	if err != nil {
		return l, err
	}
	config.QPS = -1
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return l, err
	}
	if l.client, err = client.New(config, client.Options{Scheme: scheme}); err != nil {
		return l, err
	}
	if err := l.installCRDs(ctx); err != nil {
		return l, err
	}
	if err := l.serveCatalog(ctx, programs["opm"]); err != nil {
		return l, err
	}
	err = l.launch("catalog", programs["olm-catalog"], "--namespace=olm", "--kubeconfig="+l.cluster.Kubeconfig, "--interval=30s")
	if err != nil {
		return l, err
	}
	return l, l.launch("operator", programs["olm-operator"], "--namespace=olm")
}

func (l *laboratory) installCRDs(ctx context.Context) error {
	root, err := toolchain.Root()
	if err != nil {
		return err
	}
	find := exec.CommandContext(ctx, "go", "list", "-m", "-f={{.Dir}}", olmModule)
	find.Dir = filepath.Join(root, "tools/olm")
	dir, err := find.Output()
	if err != nil {
		return fmt.Errorf("cannot find %s: %w", olmModule, err)
	}
	crds := filepath.Join(strings.TrimSpace(string(dir)), "deploy/chart/crds")
	for _, args := range [][]string{
		{"create", "namespace", "olm"},
		{"apply", "--server-side", "-f", crds},
		{"wait", "--for=condition=Established", "--timeout=60s", "-f", crds},
	} {
		kubectl := exec.CommandContext(ctx, l.cluster.Kubectl, append([]string{"--kubeconfig=" + l.cluster.Kubeconfig}, args...)...)
		if output, err := kubectl.CombinedOutput(); err != nil {
			return fmt.Errorf("kubectl %v: %w: %s", args, err, output)
		}
	}
	return nil
}

// serveCatalog renders the catalog of this tree and serves it.
func (l *laboratory) serveCatalog(ctx context.Context, opm string) error {
	root, err := toolchain.Root()
	if err != nil {
		return err
	}
	catalog, cache := filepath.Join(l.folder, "catalog"), "--cache-dir="+filepath.Join(l.folder, "cache")
	render := exec.CommandContext(ctx, "go", "run", "-tags=containers_image_openpgp,json1", "./render", "-root="+root,
		"catalog/template.yaml", catalog)
	render.Dir, render.Env = filepath.Join(root, "tools/opm"), append(os.Environ(), "CGO_ENABLED=0")
	if output, err := render.CombinedOutput(); err != nil {
		return fmt.Errorf("cannot render the catalog: %w: %s", err, output)
	}
	fill := exec.CommandContext(ctx, opm, "serve", catalog, cache, "--cache-only", "--pprof-addr=")
	if output, err := fill.CombinedOutput(); err != nil {
		return fmt.Errorf("cannot fill the catalog's cache: %w: %s", err, output)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	l.address = free.Addr().String()
	_ = free.Close()
	_, port, err := net.SplitHostPort(l.address)
	if err != nil {
		return err
	}
	if err := l.launch("opm", opm, "serve", catalog, cache, "--port="+port, "--pprof-addr="); err != nil {
		return err
	}
	return harness.Poll(ctx, harness.Patience, func() error {
		connection, err := net.DialTimeout("tcp", l.address, time.Second)
		if err == nil {
			err = connection.Close()
		}
		return err
	})
}

// launch starts a program that runs until stop.
func (l *laboratory) launch(name, program string, args ...string) error {
	command, log := exec.Command(program, args...), &bytes.Buffer{}
	command.Dir, command.Stdout, command.Stderr = l.folder, log, log
	command.Env = append(os.Environ(), "HOME="+l.folder, "KUBECONFIG="+l.cluster.Kubeconfig,
		"OPERATOR_NAMESPACE=olm", "OPERATOR_NAME=olm-operator")
	if err := command.Start(); err != nil {
		return fmt.Errorf("cannot start %s: %w", name, err)
	}
	l.processes, l.logs[name] = append(l.processes, command), log
	return nil
}

// tell prints the ends of all logs, once the programs have ended.
func (l *laboratory) tell(to io.Writer) {
	const most = 3000
	l.stop()
	for name, log := range l.logs {
		text := log.String()
		_, _ = fmt.Fprintf(to, "==> %s wrote at last:\n%s\n", name, text[max(0, len(text)-most):])
	}
}

func (l *laboratory) stop() {
	for _, process := range l.processes {
		if err := process.Process.Kill(); !errors.Is(err, os.ErrProcessDone) {
			_ = process.Wait()
		}
	}
	l.processes = nil
	_ = os.RemoveAll(l.folder)
}
