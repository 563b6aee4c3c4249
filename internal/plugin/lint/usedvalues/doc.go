// Package usedvalues compares the values that the templates of a chart use with those that are declared. It executes
// the templates with abstract values, so that every branch counts; it renders nothing.
package usedvalues
