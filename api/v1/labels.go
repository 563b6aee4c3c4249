package v1

// LabelManaged is the label, with value "true", that every rendered object and release record carries. The operator's
// caches select by it.
const LabelManaged = "app.example.com/managed"

// LabelDigest is the label of a release record that holds the digest of the rendered objects.
const LabelDigest = "app.example.com/digest"

// LabelChartVersion is the label of a release record that holds the version of the chart that rendered it.
const LabelChartVersion = "app.example.com/chart-version"

// LabelChartDigest is the label of a release record that holds the digest of the chart that rendered it.
const LabelChartDigest = "app.example.com/chart-digest"

// LabelRenderedBy is the label of a release record that identifies the chart and the operator that rendered it.
const LabelRenderedBy = "app.example.com/rendered-by"

// LabelDefaults is the label of a release record that identifies the defaults of its namespace that it was rendered
// with; it is missing if the namespace had none.
const LabelDefaults = "app.example.com/defaults"

// LabelReferences is the label of a release record that identifies the content of the ConfigMaps and Secrets that its
// pods refer to, and the version of it that the pods carry. It has a digest of values of Secrets, as the record, a
// Secret itself, has other values.
const LabelReferences = "app.example.com/references"

// LabelReady is the label, with value "true", of the record of a release that is applied again and was Ready before.
// Earlier operators gave it to all that were, if the resource requested to return to one.
const LabelReady = "app.example.com/ready"

// LabelLastReady is the label of a release record with the revision of the newest release that was Ready before it; 0
// if none was, or if that is not known.
const LabelLastReady = "app.example.com/last-ready"

// LabelReturnedFrom is the label of the record of a release that answers one that failed: an earlier one, applied
// again. It identifies what was tried and failed, which is not tried again.
const LabelReturnedFrom = "app.example.com/returned-from"

// LabelRollout is the label of a release record of a rollout that the user did not ask for, until it is over: it
// identifies the chart, operator and defaults, and holds the generation of the resource, the time, and the numbers of
// replicas that were available before and since.
const LabelRollout = "app.example.com/rollout"

// LabelOwner is the label of a cluster-scoped object, with the UID of the resource that it was rendered for: such an
// object cannot have an owner reference to a resource in a namespace.
const LabelOwner = "app.example.com/owner-uid"

// LabelService is the label, with its name, of a further Service of an AppService (spec.services). Monitors tell it by
// that from the first one.
const LabelService = "app.example.com/service"

// LabelMainService is the label, with value "true", of the first Service of an AppService if it has another name than
// that (spec.service.name).
const LabelMainService = "app.example.com/main-service"
