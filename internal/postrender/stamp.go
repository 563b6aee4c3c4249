package postrender

import v1 "github.com/example/appservice-operator/api/v1"

// AnnotationStamp is the annotation that holds the digest of an object as it was rendered, which it gets after all hooks. A live
// object with another stamp was last applied in another version, also where a crash hides which.
const AnnotationStamp = v1.AnnotationStamp
