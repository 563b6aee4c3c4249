package postrender

import v1 "github.com/example/appservice-operator/api/v1"

// AnnotationStamp is the annotation that holds the digest of an object as it was rendered, added after all hooks. A
// live object with another stamp was last applied in another version, even if a crash hides which.
const AnnotationStamp = v1.AnnotationStamp
