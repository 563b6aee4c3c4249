package v1

// AnnotationAdopt is the annotation, with value "true", of a resource that takes over existing objects with the names
// of its rendered ones: those without a controller, and those of the Helm release that AnnotationAdoptRelease names.
const AnnotationAdopt = "app.example.com/adopt"

// AnnotationAdoptRelease is the annotation of a resource with AnnotationAdopt that names a Helm release of the
// namespace, whose objects it takes over, too. Helm's records of that release are deleted once they are taken.
const AnnotationAdoptRelease = "app.example.com/adopt-release"

// AnnotationAdoptRestart is the annotation, with value "true", of a resource with AnnotationAdopt that allows pods to
// restart, or to end, for that. Without it, adoption is refused if they would.
const AnnotationAdoptRestart = "app.example.com/adopt-restart"
