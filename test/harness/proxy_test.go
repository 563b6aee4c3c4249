package harness

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTheCrashComesAtTheNumberedWrite(t *testing.T) {
	p := &Proxy{}
	write := func(path string) Request { return Request{Verb: "patch", Path: path} }
	assert.Nil(t, p.due(write("/a")), "a proxy that is not armed crashes")
	p.CrashAt(&Crash{Write: 2})
	for _, request := range []Request{
		{Verb: "get", Path: "/a"}, {Verb: "patch", Path: "/a", DryRun: true}, write("/api/v1/namespaces/demo/events"), write("/first"), {Verb: "list", Path: "/a"},
	} {
		require.Nil(t, p.due(request), "it crashes at %s", request)
	}
	require.NotNil(t, p.due(write("/second")), "it does not crash at the second write")
	assert.Nil(t, p.due(write("/third")), "it crashes twice")
	struck, happened := p.Disarm()
	if !happened || struck.Path != "/second" {
		t.Errorf("got %s, happened: %t", struck, happened)
	}
	assert.Nil(t, p.due(write("/fourth")), "it crashes after it was disarmed")
}

func TestACrashThatDidNotHappen(t *testing.T) {
	p := &Proxy{}
	p.CrashAt(&Crash{Write: 1})
	if struck, happened := p.Disarm(); happened {
		t.Errorf("got %s", struck)
	}
}
