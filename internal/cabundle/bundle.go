package cabundle

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/pem"
	"slices"

	roots "golang.org/x/crypto/x509roots/fallback/bundle"
)

// PEM returns a text with the given certificates, which are in DER form, and the roots: sorted, each once.
func PEM(certificates [][]byte) []byte {
	all := slices.Clone(certificates)
	for root := range roots.Roots() {
		all = append(all, root.Certificate)
	}
	var text bytes.Buffer
	for _, certificate := range sorted(all) {
		text.Write(pem.EncodeToMemory(&pem.Block{Type: certificateType, Bytes: certificate}))
	}
	return text.Bytes()
}

// Digest returns a hex digest of a set of certificates. It excludes the roots: a newer operator has other roots, and
// that must not restart a server.
func Digest(certificates [][]byte) string {
	digest := sha256.New()
	for _, certificate := range sorted(certificates) {
		sum := sha256.Sum256(certificate)
		digest.Write(sum[:])
	}
	return hex.EncodeToString(digest.Sum(nil))
}

func sorted(certificates [][]byte) [][]byte {
	certificates = slices.SortedFunc(slices.Values(certificates), bytes.Compare)
	return slices.CompactFunc(certificates, bytes.Equal)
}
