// Package specs makes specs of AppServices for tests. It owns how the CRD's schema is read and walked, the values that a field
// is tried with, what a spec needs besides them, and the check whether the API server would take a spec.
package specs
