package livestate

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/kube/reference"
)

// Configuration returns the identity of the configuration that is rendered for a resource, by its digest; zero for
// none. The pods of the recorded release keep its version if it is the same. Another version is computed with the UID
// of that record, which only those know who may read Secrets: nobody else can test guesses at the configuration. The
// first one is independent of the configuration, since nothing ran before. Record is nil if there is none.
func Configuration(resource client.Object, record *Record, digest string) reference.Content {
	if digest == "" {
		return reference.Content{}
	}
	key, text, recorded := string(resource.GetUID()), strconv.FormatInt(resource.GetGeneration(), 10), reference.Content{}
	if record != nil {
		key, text, recorded = string(record.UID), digest, reference.ParseContent(record.Configuration)
	}
	sum := hmac.New(sha256.New, []byte(key))
	_, _ = sum.Write([]byte(text)) // never fails
	return reference.Content{Digest: digest, Version: hex.EncodeToString(sum.Sum(nil))[:24]}.After(recorded)
}
