// Package fields owns fields.yaml, the file of a chart that declares what the chart adds to the spec of its kind: fields beside those of
// the kind's Go type, or, if a kind has none, the whole spec. It parses and checks the file, names each mistake with file and line,
// and makes of it defaults for the chart and a schema for the CRD. It reads no cluster and writes nothing.
//
// The schemas are a subset of OpenAPI v3 that is structural by its form. What needs the API server's own packages, rules in CEL above
// all, is checked by tools/crdgen when it makes the CRD.
package fields
