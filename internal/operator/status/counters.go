package status

import (
	"fmt"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/operator/status/diagnose"
)

// counters sets the fields of a status that describe the pods of the main workload; zero if there is none.
func counters(out *v1.AppServiceStatus, main client.Object) {
	workload, found := diagnose.WorkloadOf(main)
	if !found {
		workload = &diagnose.Workload{}
	}
	out.Replicas, out.UpdatedReplicas, out.ReadyReplicas = workload.All, workload.Updated, workload.Ready
	out.AvailableReplicas, out.UnavailableReplicas = workload.Available, workload.Unavailable
	out.Readiness, out.Selector, out.Image = "", "", ""
	if !found {
		return
	}
	out.Readiness = fmt.Sprintf("%d/%d", workload.Ready, workload.Desired)
	if selector, err := metav1.LabelSelectorAsSelector(workload.Selector); err == nil {
		out.Selector = selector.String()
	}
	if containers := workload.Template.Spec.Containers; len(containers) > 0 {
		out.Image = containers[0].Image
	}
}

// Wanted returns the number of replicas that a status says are wanted; 0 if it does not say.
func Wanted(current *v1.AppServiceStatus) int32 {
	_, wanted, _ := strings.Cut(current.Readiness, "/")
	number, _ := strconv.ParseInt(wanted, 10, 32)
	return int32(number)
}
