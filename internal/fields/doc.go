// Package fields owns fields.yaml, the file in which a chart declares fields of its kind's spec: fields in addition to those of the kind's Go
// type, or the whole spec if the kind has none. It parses and checks the file, reports mistakes with file and line, and derives
// defaults for the chart and a schema for the CRD. It reads no cluster and writes nothing.
//
// The schemas are a subset of OpenAPI v3 that is structural by construction. Checks that need packages of the API server, such as those of CEL
// rules, are left to tools/crdgen when it generates the CRD.
package fields
