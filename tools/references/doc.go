// Package references makes the admission policies of config/admission: who writes a resource may refer only to what he could use himself.
//
// It finds the fields that refer to something in the schema of a CRD, by their names: secretName, configMapRef.name, serviceAccount.name and
// the like, as Kubernetes calls them. What names do not say is declared in config/admission/references.yaml. Of each field it makes the part of
// a CEL expression that reads it. It asks no cluster; test/contract renders each field and sees that none is missing here.
package references
