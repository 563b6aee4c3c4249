// Program e2e shows on a cluster with real pods that what the repository builds works: "make e2e".
//
// It builds the images, deploys the operator as users do, and takes AppServices through their lives. Each check is
// counted, a failed one does not keep the next from running, and the last line sums up. Then everything begins again with
// OLM, which installs an earlier version of the operator and upgrades it.
//
// -run narrows it to the checks whose names match a regular expression; the operator is deployed in any case. A check may need
// another one before it.
//
// With KUBECONFIG set, it uses that cluster, whose nodes get the images by the command in LOAD, with the archive as
// last argument; RESTART_KUBELET is the command that restarts a kubelet, and without it that check is left out. Without
// KUBECONFIG, it brings up a node of its own (package tools/node) and ends it, unless KEEP=1.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/example/appservice-operator/test/olm"
	"github.com/example/appservice-operator/test/try"
	"github.com/example/appservice-operator/tools/toolchain"
)

const (
	// limit is how long everything may take.
	limit = 25 * time.Minute
	// patience is how long one check may take.
	patience = 5 * time.Minute
)

// check is one thing that is shown.
type check struct {
	name string
	do   func(context.Context, *suite)
}

// errSkipped is the error of a check that cannot be made on the cluster. It counts neither as passed nor as failed.
var errSkipped = errors.New("left out")

// suite is what the checks have in common.
type suite struct {
	out     io.Writer
	root    string // the repository
	folder  string // for archives of images
	cluster *cluster
	client  client.Client
	before  objects // all of the cluster, before the operator was deployed

	old, present olm.Version   // of the operator
	needsOLM     bool          // whether any check does
	olm          *olm.Instance // once it runs
	withOLM      objects       // all of the cluster, before OLM was asked for the operator
}

func main() {
	log.SetLogger(logr.Discard()) // what goes wrong is printed
	pattern := flag.String("run", "", "run only the checks whose names match this regular expression, after that which deploys the operator")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Stdout, *pattern)
	cancel()
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, pattern string) error {
	var ended error
	err := try.Catch(func() {
		chosen := try.Get(choose(append(checks(), olmChecks()...), pattern))
		s := &suite{out: out, root: try.Get(toolchain.Root()), needsOLM: needOLM(chosen)}
		s.buildTools(ctx) // that may take much longer than all the rest
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		s.folder = try.Get(os.MkdirTemp("", "appservice-e2e-"))
		defer os.RemoveAll(s.folder)
		start := time.Now()
		end := try.Get(s.prepare(ctx))
		defer func() { ended = end(context.WithoutCancel(ctx)) }()
		passed, failed := s.perform(ctx, chosen)
		if s.olm != nil {
			s.olm.Stop()
		}
		if ctx.Err() != nil {
			try.Do(context.Cause(ctx))
		}
		s.say("took %s", time.Since(start).Round(time.Second))
		s.say("E2E passed=%d failed=%d", passed, failed)
		if failed > 0 {
			try.Fail("%d checks failed", failed)
		}
	})
	return cmp.Or(err, ended)
}

// choose returns the first check and those of the others whose names match.
func choose(all []check, pattern string) ([]check, error) {
	wanted, err := regexp.Compile(pattern)
	if err != nil {
		return nil, err
	}
	chosen := all[:1:1]
	for _, c := range all[1:] {
		if wanted.MatchString(c.name) {
			chosen = append(chosen, c)
		}
	}
	if len(chosen) == 1 {
		return nil, fmt.Errorf("no check has a name that matches %q", pattern)
	}
	return chosen, nil
}

// perform runs the checks one after the other and counts.
func (s *suite) perform(ctx context.Context, checks []check) (passed, failed int) {
	for _, c := range checks {
		if ctx.Err() != nil {
			break
		}
		start := time.Now()
		limited, cancel := context.WithTimeout(ctx, patience)
		err := try.Catch(func() { c.do(limited, s) })
		cancel()
		took := time.Since(start).Round(100 * time.Millisecond)
		switch {
		case err == nil:
			passed++
			s.say("ok   %6s  %s", took, c.name)
		case errors.Is(err, errSkipped):
			s.say("skip         %s: %v", c.name, err)
		default:
			failed++
			s.say("FAIL %6s  %s: %v", took, c.name, err)
			s.explain(ctx)
		}
	}
	return passed, failed
}

func (s *suite) say(format string, args ...any) {
	_, _ = fmt.Fprintf(s.out, format+"\n", args...)
}

// needOLM reports whether any of the checks needs OLM, which takes half an hour to build.
func needOLM(chosen []check) bool {
	return slices.ContainsFunc(olmChecks(), func(ofOLM check) bool {
		return slices.ContainsFunc(chosen, func(c check) bool { return c.name == ofOLM.name })
	})
}

// checks lists those without OLM. They depend on the order: the last ones take away what the first ones have made.
func checks() []check {
	return []check{
		{"make deploy: two managers run under Pod Security restricted, one leads, one may be evicted", deploy},
		{"the seed resource serves HTTP 200 through node port 30002", serveSeed},
		{"each address in a status answers: node ports, and from a pod the names of Services, headless ones too", visitEndpoints},
		{"an application runs in a namespace that enforces Pod Security restricted", runRestricted},
		{"a rolling update drops no request", rollUnderLoad},
		{"a targetPort moves, and then to a sidecar: no request is dropped, though pods take a while until they listen", moveTargetPort},
		{"a broken tag is reported while the old version serves, and reverting recovers", breakTag},
		{"an application that takes too much memory is reported", exhaustMemory},
		{"an application that crashes is reported", crash},
		{"a migration of 20 s runs before the next version: no request is dropped", migrate},
		{"a migration that fails changes nothing that runs, and says why: no request is dropped", failMigration},
		{"a release that crashes is answered by the last one that was ready: no request is dropped", goBack},
		{"kubectl appservice wait, run and logs: exit codes, what a command writes, and that nothing of it is left", runBeside},
		{"a Deployment that was edited is put back", editDeployment},
		{"a Service that was edited, then deleted, is put back and serves", damageService},
		{"the leading manager is killed: another takes over, no application pod restarts", killLeader},
		{"the kubelet restarts: no application pod restarts", restartKubelet},
		{"charts from a ConfigMap are served; they change, and neither a manager nor an application restarts", chartFromConfigMap},
		{"charts from an image volume are served, and those of the next image; no application restarts", chartFromImage},
		{"what the policy shared refuses runs under open, and goes on under shared", bothPolicies},
		{"an AppJob runs to its end, another fails and says why, a third waits for its time", runJobs},
		{"a deleted AppService leaves its claim and nothing else", deleteApp},
		{"each replica of a StatefulSet keeps its data over a restart and over the loss of its pod", keepData},
		{"a StatefulSet with two claims is imported and adopted: its data is there after that, and after the next image", adoptData},
		{"make undeploy: applications go on serving", undeploy},
		{"make deploy for one namespace: an application runs there, and with no ClusterRole the manager may do nothing elsewhere", confinedByMake},
		{"helm install for one namespace: the same", confinedByHelm},
		{"make uninstall: nothing is left in the cluster", uninstall},
		{"make deploy upgrades the version before: no pod restarts, each replica keeps its data over that and the next image", upgradeByMake},
	}
}

// olmChecks lists those with OLM and the scorecard, which follow.
func olmChecks() []check {
	return []check{
		{"a Subscription: OLM installs the version before from the catalog, which serves", subscribe},
		{"OLM upgrades to this version, AppJob included: no application pod restarts, no request is dropped", upgrade},
		{"make scorecard: all tests pass as pods", scorecard},
		{"OLM removes the operator, and the CRD goes: claims are left and nothing else", unsubscribe},
	}
}
