package redact

import (
	"crypto/x509"
	"encoding/pem"
	"regexp"

	"go.yaml.in/yaml/v3"
	sigsyaml "sigs.k8s.io/yaml"
)

// maxConfig is the maximum size, in bytes, of a string that the package parses. It shows only the size of a
// larger string.
const maxConfig = 1 << 20

// file returns the part of a file in a ConfigMap that is shown: for a configuration, its YAML without comments, with
// the values at known-good places. It returns certificates unchanged, and only the size of any other text.
func (k *Known) file(at Place, text string) string {
	if text == "" || isCertificates(text) {
		return text
	}
	root, ok := parse(text)
	if !ok {
		return size(text)
	}
	shown, err := yaml.Marshal(walker{known: k}.value(at, root))
	if err != nil {
		return size(text)
	}
	return string(shown)
}

// parse returns the mapping or the list in a YAML document. It returns false for any other string.
func parse(text string) (root any, ok bool) {
	defer func() {
		if recover() != nil { // the parser is a library, which can panic on unexpected text
			root, ok = nil, false
		}
	}()
	if len(text) > maxConfig || sigsyaml.Unmarshal([]byte(text), &root) != nil {
		return nil, false
	}
	switch root.(type) {
	case map[string]any, []any:
		return root, true
	default:
		return nil, false
	}
}

// certificates matches text that contains only certificates, with nothing between them.
var certificates = regexp.MustCompile(
	`^(\s*-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]*-----END CERTIFICATE-----)+\s*$`,
)

// isCertificates reports whether a string contains only certificates.
func isCertificates(text string) bool {
	if len(text) > maxConfig || !certificates.MatchString(text) {
		return false
	}
	for block, rest := pem.Decode([]byte(text)); block != nil; block, rest = pem.Decode(rest) {
		if _, err := x509.ParseCertificate(block.Bytes); err != nil {
			return false
		}
	}
	return true
}
