package release

// Manifest returns what the newest record of any Helm release holds, whoever wrote it: payload is the entry "release" of its Secret.
func Manifest(payload []byte) (string, error) { return decodeManifest(payload) }
