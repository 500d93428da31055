package cabundle

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/pem"
	"slices"

	roots "golang.org/x/crypto/x509roots/fallback/bundle"
)

// PEM returns the given certificates, which are in DER form, and the public roots as PEM blocks, sorted and without
// duplicates.
func PEM(certificates [][]byte) []byte {
	all := slices.Clone(certificates)
	for root := range roots.Roots() {
		all = append(all, root.Certificate)
	}
	return encode(all)
}

// encode returns certificates as PEM blocks, sorted and without duplicates. It returns nil if there are none.
func encode(certificates [][]byte) []byte {
	var text bytes.Buffer
	for _, certificate := range sorted(certificates) {
		text.Write(pem.EncodeToMemory(&pem.Block{Type: certificateType, Bytes: certificate}))
	}
	return text.Bytes()
}

// Digest returns a hex digest of a set of certificates. It excludes the public roots, because new roots in a newer
// operator must not cause a server to restart.
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
