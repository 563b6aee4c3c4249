package controller

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/example/appservice-operator/api/v1"
)

// lackingField is a cluster whose kinds all lack a field; empty for none.
type lackingField string

func (l *lackingField) UnknownField(context.Context, *unstructured.Unstructured) (path, version string) {
	return string(*l), "v1.4.1"
}

// The cluster is asked again at each attempt, though nothing else has changed.
func TestAClusterThatWasTooOldIsAskedAgain(t *testing.T) {
	b := newBench(t, "nginx")
	lacks := lackingField("spec.color")
	b.Fields = &lacks
	reason := func() string {
		next := b.reconcile(t)
		b.clock.SetTime(b.clock.Now().Add(next))
		return meta.FindStatusCondition(b.web(t).Status.Conditions, v1.ConditionReady).Reason
	}
	assert.Equal(t, v1.ReasonAPITooOld, reason())
	assert.Equal(t, v1.ReasonAPITooOld, reason())
	b.installed(t)
	lacks = ""
	assert.NotEqual(t, v1.ReasonAPITooOld, reason())
}
