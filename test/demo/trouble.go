package main

import "context"

// breakImage sets an image that does not exist, shows the status, and sets the right one again.
func (d *demo) breakImage(ctx context.Context) {
	d.say("A typo: nginx:1.92, where nginx:1.29 was meant.")
	if d.simulated {
		d.say("The failure is simulated: these nodes pull no images, so an annotation in the file has them say what a real kubelet says.")
		d.say("What the operator makes of it is real. With a real kubelet: make e2e.")
	}
	d.apply(ctx, "test/demo/broken-image.yaml")
	d.explain(ctx)
	d.kubectl(ctx, "get", "pods", "--output=custom-columns=POD:.metadata.name,"+
		"IMAGE:.spec.containers[0].image,READY:.status.containerStatuses[0].ready", inNamespace)
	d.say("Put right, it recovers by itself:")
	d.apply(ctx, sample)
	d.untilReady(ctx)
}

// missSecret has the AppService refer to a Secret that is not there, shows what it says, and creates that.
func (d *demo) missSecret(ctx context.Context) {
	d.apply(ctx, "test/demo/missing-secret.yaml")
	d.explain(ctx)
	d.say("No pod was touched. Once the Secret is there, the operator goes on by itself:")
	d.kubectl(ctx, "create", "secret", "generic", app, "--from-literal=api-key=demo", inNamespace)
	d.untilReady(ctx)
	d.kubectl(ctx, "get", "deployment", app, "--output=jsonpath={.spec.template.spec.containers[0].env}", inNamespace)
}

// explain waits until the AppService does not get on without help, and shows why.
func (d *demo) explain(ctx context.Context) {
	d.finds(ctx, "appservice", "wait", app, timeout, inNamespace)
	d.kubectl(ctx, "get", "appservice", app, inNamespace)
}
