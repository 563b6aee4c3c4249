package harness

import "testing"

func TestTheCrashComesAtTheNumberedWrite(t *testing.T) {
	p := &Proxy{}
	write := func(path string) Request { return Request{Verb: "patch", Path: path} }
	if p.due(write("/a")) != nil {
		t.Error("a proxy that is not armed crashes")
	}
	p.CrashAt(&Crash{Write: 2})
	for _, request := range []Request{
		{Verb: "get", Path: "/a"}, {Verb: "patch", Path: "/a", DryRun: true}, write("/api/v1/namespaces/demo/events"), write("/first"), {Verb: "list", Path: "/a"},
	} {
		if p.due(request) != nil {
			t.Fatalf("it crashes at %s", request)
		}
	}
	if p.due(write("/second")) == nil {
		t.Fatal("it does not crash at the second write")
	}
	if p.due(write("/third")) != nil {
		t.Error("it crashes twice")
	}
	struck, happened := p.Disarm()
	if !happened || struck.Path != "/second" {
		t.Errorf("got %s, happened: %t", struck, happened)
	}
	if p.due(write("/fourth")) != nil {
		t.Error("it crashes after it was disarmed")
	}
}

func TestACrashThatDidNotHappen(t *testing.T) {
	p := &Proxy{}
	p.CrashAt(&Crash{Write: 1})
	if struck, happened := p.Disarm(); happened {
		t.Errorf("got %s", struck)
	}
}
