// Package fields owns fields.yaml, the file in which a chart declares fields of its kind's spec: fields in addition to
// those of the kind's Go type, or the whole spec if the kind has none. It parses and checks the file, reports mistakes
// with file and line, and derives defaults for the chart and a schema for the CRD. It reads no cluster and writes
// nothing.
//
// The schemas are those of a CRD, decoded strictly, and the API server's own validator judges them. Rules in CEL may be
// about fields of the Go type, so they are left to tools/crdgen, which validates the whole CRD.
package fields
