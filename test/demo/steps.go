package main

import (
	"context"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/example/appservice-operator/test/try"
)

const (
	app         = "web" // the name in the sample
	sample      = "config/samples/app_v1_appservice.yaml"
	crd         = "appservices.app.example.com"
	namespace   = "appservice-demo" // the name in namespace.yaml
	inNamespace = "--namespace=" + namespace
)

func (d *demo) steps() []step {
	steps := []step{
		{"Get the programs that are missing", d.provide},
		{"Bring up the cluster", d.bringUp},
		{"Install the CRD", d.installCRD},
		{"Start the manager", d.startManager},
		{"Create an AppService in a namespace of its own", d.create},
		{"Wait until it is ready, and look at it", d.look},
		{"Scale it to 3 replicas", d.scale},
		{"Delete its Service: the operator puts it back", d.damage},
		{"Give it an image that nobody has: it says so, and serves on", d.breakImage},
		{"Have it refer to a Secret that is not there", d.missSecret},
		{"Change the chart: the running application follows", d.changeChart},
		{"Delete the AppService: everything goes with it", d.remove},
		{"What that took", d.sumUp},
	}
	if d.keep {
		return append(steps, step{"Create it once more and leave everything running", d.leaveRunning})
	}
	return append(steps, step{"Clean up", func(ctx context.Context) { try.Do(d.cleanUp(ctx)) }})
}

// create makes the namespace again and the AppService in it.
func (d *demo) create(ctx context.Context) {
	d.kubectl(ctx, "delete", "namespace", "--selector=app.example.com/demo=true", timeout)
	d.kubectl(ctx, "create", "--filename=test/demo/namespace.yaml")
	if d.shared {
		d.laterKubectl("delete", "namespace", namespace, timeout)
	}
	d.apply(ctx, sample)
}

func (d *demo) apply(ctx context.Context, file string) {
	d.kubectl(ctx, "apply", "--filename="+file, inNamespace)
}

func (d *demo) untilReady(ctx context.Context) {
	d.kubectl(ctx, "wait", "--for=condition=Ready", timeout, "appservice/"+app, inNamespace)
}

// look shows what the AppService has become, and its status.
func (d *demo) look(ctx context.Context) {
	d.untilReady(ctx)
	d.kubectl(ctx, "get", "appservice,deploy,svc,pdb", inNamespace)
	if d.simulated {
		d.say("(The nodes are simulated: nothing answers on that URL.)")
	}
	d.showYAML(ctx, "{.status}")
}

// showYAML prints a part of the AppService.
func (d *demo) showYAML(ctx context.Context, path string) {
	args := []string{"get", "appservice", app, "--output=jsonpath=" + path, inNamespace}
	d.say("$ %s   # as YAML", commandLine("kubectl", args))
	part := try.Get(d.quietly(ctx, args...))
	text, err := yaml.JSONToYAML([]byte(part))
	if err != nil {
		try.Fail("cannot read %s: %w", path, err)
	}
	d.say("%s", strings.TrimSpace(string(text)))
}

func (d *demo) scale(ctx context.Context) {
	d.kubectl(ctx, "scale", "appservice", app, "--replicas=3", inNamespace)
	d.kubectl(ctx, "wait", "--for=jsonpath={.status.readyReplicas}=3", timeout, "appservice/"+app, inNamespace)
	d.untilReady(ctx)
	d.kubectl(ctx, "get", "appservice,deploy", inNamespace)
}

// damage deletes the Service and shows that it comes back.
func (d *demo) damage(ctx context.Context) {
	service := []string{"get", "service", app, "--ignore-not-found", "--output=jsonpath={.metadata.uid}", inNamespace}
	before := d.kubectl(ctx, service...)
	d.kubectl(ctx, "delete", "service", app, "--wait=false", inNamespace)
	start := time.Now()
	after := d.until(ctx, "there is a new one", other(before), service...)
	d.say("It was back within %d ms, as a new object (uid %s, before %s). What the operator says about it:",
		time.Since(start).Milliseconds(), after, before)
	d.until(ctx, "its event is there", func(events string) bool { return events != "" },
		"get", "events", "--field-selector=reason=DriftCorrected,involvedObject.name="+app, inNamespace)
	d.untilReady(ctx)
}

// remove deletes the AppService and waits until the garbage collector has taken all that it had become.
func (d *demo) remove(ctx context.Context) {
	leftovers := []string{"get", "deployments,replicasets,pods,services,poddisruptionbudgets", "--output=name", inNamespace}
	releases := []string{"get", "secrets", "--selector=owner=helm", "--output=name", inNamespace}
	for _, args := range [][]string{leftovers, releases} {
		d.kubectl(ctx, args...)
	}
	d.say("The cluster's garbage collector does this.")
	if d.shared {
		d.say("Where the CRD is new, it may take 30 s to know of AppServices.")
	}
	d.kubectl(ctx, "delete", "appservice", app, "--cascade=foreground", inNamespace, timeout)
	for _, args := range [][]string{leftovers, releases} {
		d.until(ctx, "there is none", func(names string) bool { return strings.TrimSpace(names) == "" }, args...)
	}
	d.say("Nothing is left.")
}
