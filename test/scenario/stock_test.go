//go:build cluster

package scenario

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/harness"
	"github.com/example/appservice-operator/tools/poll"
)

var withStock = flag.Bool("stock", false, "put the stock library through T1 instead, and count what goes wrong")

// stockKind is that of the stock library's resources, which write a status that does not fit into our schema.
var stockKind = schema.GroupVersionKind{Group: "stock.example.com", Version: "v1", Kind: v1.Kind}

// stockWorkloads are those that the stock library supports: no retained claims, no replicas of an autoscaler.
var stockWorkloads = []string{"install", "upgrade-one", "upgrade-all", "features-on", "features-off", "host-moved", "deleted-by-hand", "edited-by-hand"}

// TestStock puts the reconciler of helm-operator-plugins, with the same chart, through the deaths of T1. It has to meet less: objects as they would
// be without the death, and a newest release that is deployed.
func TestStock(t *testing.T) {
	if !*withStock {
		t.Skip("asked for with make test-faults-stock")
	}
	installStockCRD(t)
	slots := make(chan struct{}, ownOperators)
	var mu sync.Mutex
	wrong, plans := 0, 0
	t.Run("plan", func(t *testing.T) {
		for _, w := range scenarios {
			if !strings.Contains(" "+strings.Join(stockWorkloads, " ")+" ", " "+w.name+" ") {
				continue
			}
			t.Run(w.name, func(t *testing.T) {
				t.Parallel()
				states, points := learnStock(t, w, slots)
				for number, point := range points {
					for _, fault := range deaths {
						name := fmt.Sprintf("T1/%s/%d/%s", w.name, number+1, fault)
						t.Run(name, func(t *testing.T) {
							t.Parallel()
							slots <- struct{}{}
							defer func() { <-slots }()
							err := playStock(t, w, name, states, &harness.Fault{At: point, Kind: fault})
							mu.Lock()
							defer mu.Unlock()
							if plans++; err != nil {
								wrong++
								t.Logf("wrong: at %s: %v", point, err)
							}
						})
					}
				}
			})
		}
	})
	t.Logf("STOCK plans=%d wrong=%d", plans, wrong)
	fmt.Printf("STOCK plans=%d wrong=%d\n", plans, wrong)
}

func learnStock(t *testing.T, w scenario, slots chan struct{}) ([]state, []harness.Point) {
	slots <- struct{}{}
	defer func() { <-slots }()
	s := newStage(t, "stock-"+w.name, alone)
	stock := launchStock(t, s.namespace)
	defer stock.end()
	var states []state
	revisions := 0
	for i, step := range w.all() {
		if i == len(w.given) {
			s.line.Start()
		}
		if step.spec != "" {
			revisions++
		}
		s.doStock(t, step)
		harness.Eventually(t, "settle", func() error {
			if _, quiet := seen.version(s.namespace); quiet < 2*calm || s.line.Quiet() < 2*calm {
				return fmt.Errorf("something still happens")
			}
			end, revision, err := s.stockState(t)
			if err != nil {
				return err
			}
			if revision < revisions || end["release"] != "deployed" || end["Deployment web.status.availableReplicas"] != "1" {
				return fmt.Errorf("release %d of %d is %s", revision, revisions, end["release"])
			}
			states = append(states[:i], end)
			return nil
		})
	}
	return states, s.line.Points()
}

// playStock returns what is wrong at the end.
func playStock(t *testing.T, w scenario, name string, states []state, fault *harness.Fault) error {
	s := newStage(t, "stock-"+name, alone)
	stock := launchStock(t, s.namespace)
	defer func() { stock.end() }()
	var struck <-chan struct{}
	for i, step := range w.all() {
		if i == len(w.given) {
			s.line.Start()
			struck = s.line.Arm(*fault)
		}
		s.doStock(t, step)
		last := i == len(states)-1
		if err := poll.UntilWithin(t.Context(), patience, func(context.Context) error {
			select {
			case <-stock.incarnation.Died():
				stock.cancel()
				stock = launchStock(t, s.namespace)
			default:
			}
			if _, quiet := seen.version(s.namespace); last && quiet < calm {
				return fmt.Errorf("something still happens")
			}
			if last {
				select {
				case <-struck:
				default:
					if s.line.Quiet() < 2*calm {
						return fmt.Errorf("the fault has not struck")
					}
				}
			}
			got, _, err := s.stockState(t)
			if err != nil {
				return err
			}
			if differs := differences(states[i], got, nil); len(differs) > 0 {
				return fmt.Errorf("%d fields differ: %s", len(differs), listed(differs[:min(4, len(differs))]))
			}
			return nil
		}); err != nil && i < len(w.given) {
			t.Fatalf("it did not come as far as the fault: %v", err)
		} else if err != nil {
			return err
		}
	}
	return nil
}

// stockState is the state of the objects, and of the newest release, whose revision it returns as well.
func (s *stage) stockState(t *testing.T) (out state, newest int, err error) {
	objects, err := seen.objects(t.Context(), s.namespace)
	if err != nil {
		return nil, 0, err
	}
	released := "none"
	for key, object := range objects {
		if object.GetLabels()["owner"] != "helm" {
			continue
		}
		delete(objects, key)
		var revision int
		_, _ = fmt.Sscan(object.GetLabels()["version"], &revision)
		if revision > newest {
			newest, released = revision, object.GetLabels()["status"]
		}
	}
	all, err := stateOf(s.namespace, objects)
	if err != nil {
		return nil, 0, err
	}
	out = timeless(all)
	out["release"] = released
	return out, newest, nil
}

// doStock runs a step on an AppService of the stock library.
func (s *stage) doStock(t *testing.T, step step) {
	t.Helper()
	spec := step.spec
	step.spec = ""
	if spec != "" {
		harness.Eventually(t, "change the spec", func() error {
			app := &unstructured.Unstructured{}
			app.SetGroupVersionKind(stockKind)
			app.SetNamespace(s.namespace)
			app.SetName(appName)
			err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(app), app)
			app.Object["spec"] = specIn(t, s.namespace, spec)
			if apierrors.IsNotFound(err) {
				return cluster.Client.Create(t.Context(), app)
			}
			if err != nil {
				return err
			}
			return cluster.Client.Update(t.Context(), app)
		})
	}
	s.do(t, step)
}
