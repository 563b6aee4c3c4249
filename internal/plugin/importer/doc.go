// Package importer makes AppServices of workloads that run without one: of the objects of a Deployment, of a Helm
// release or of a manifest; and AppJobs of Jobs and CronJobs. It owns which object says what by which field, and
// proves what it says: the resource is rendered as the operator does, and each difference from the original objects
// has a note with its reason and what to do about it.
//
// Objects go through these packages:
//
//	read (objects, workloads) → translate (a spec that says the same) → proof (differences) → explain (their notes)
//
// It makes no request, writes nothing, and knows of no command line.
package importer
