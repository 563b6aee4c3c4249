package main

import "context"

// breakImage sets an image that does not exist, shows the status, and sets the right one again.
func (d *demo) breakImage(ctx context.Context) error {
	d.say("A typo: nginx:1.92, where nginx:1.29 was meant.")
	if d.simulated {
		d.say("The failure is simulated: these nodes pull no images, so an annotation in the file has them say what a real kubelet says.")
		d.say("What the operator makes of it is real. With a real kubelet: make e2e.")
	}
	if err := d.apply(ctx, "test/demo/broken-image.yaml"); err != nil {
		return err
	}
	if err := d.explain(ctx); err != nil {
		return err
	}
	if _, err := d.kubectl(ctx, "get", "pods", "--output=custom-columns=POD:.metadata.name,"+
		"IMAGE:.spec.containers[0].image,READY:.status.containerStatuses[0].ready", inNamespace); err != nil {
		return err
	}
	d.say("Put right, it recovers by itself:")
	if err := d.apply(ctx, sample); err != nil {
		return err
	}
	return d.untilReady(ctx)
}

// missSecret has the AppService refer to a Secret that is not there, shows what it says, and creates that.
func (d *demo) missSecret(ctx context.Context) error {
	if err := d.apply(ctx, "test/demo/missing-secret.yaml"); err != nil {
		return err
	}
	if err := d.explain(ctx); err != nil {
		return err
	}
	d.say("No pod was touched. Once the Secret is there, the operator goes on by itself:")
	if _, err := d.kubectl(ctx, "create", "secret", "generic", app, "--from-literal=api-key=demo", inNamespace); err != nil {
		return err
	}
	if err := d.untilReady(ctx); err != nil {
		return err
	}
	_, err := d.kubectl(ctx, "get", "deployment", app, "--output=jsonpath={.spec.template.spec.containers[0].env}", inNamespace)
	return err
}

// explain waits until the AppService says that it does not get on without help, and shows what it says.
func (d *demo) explain(ctx context.Context) error {
	if _, err := d.kubectl(ctx, "wait", "--for=condition=Stalled", timeout, "appservice/"+app, inNamespace); err != nil {
		return err
	}
	if _, err := d.kubectl(ctx, "get", "appservice", app, inNamespace); err != nil {
		return err
	}
	_, err := d.kubectl(ctx, "get", "appservice", app, `--output=jsonpath={.status.conditions[?(@.type=="Ready")].message}`, inNamespace)
	if err != nil {
		return err
	}
	return d.showYAML(ctx, "{.status.problems}")
}
