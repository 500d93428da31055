//go:build node

package node

import (
	"encoding/base64"
	"fmt"
	"time"
)

// farAway is long after the test, so that there is no warning about the expiry of a certificate.
var farAway = time.Now().Add(90 * 24 * time.Hour)

// tlsSecret returns a manifest of a Secret with a certificate.
func tlsSecret(name string, certificate, key []byte) string {
	encode := base64.StdEncoding.EncodeToString
	return fmt.Sprintf("---\napiVersion: v1\nkind: Secret\ntype: kubernetes.io/tls\nmetadata: {name: %s}\ndata: {tls.crt: %s, tls.key: %s}\n",
		name, encode(certificate), encode(key))
}
