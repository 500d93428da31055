package names

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

const (
	// ExternalVolume is the volume in which external providers are installed.
	ExternalVolume = "external-providers"
	// ExternalDir is the mount path of that volume in the server's container and the last init container.
	ExternalDir = "/opt/llama-stack/external-providers"
	// ExternalContainer is the init container that installs the packages that the other init containers copied, and
	// completes the configuration.
	ExternalContainer = "external-providers"
	// ExternalCopyDir is the mount path of the volume in an init container that copies a provider's package. Only the
	// provider's own part of the volume is mounted.
	ExternalCopyDir = "/opt/llama-stack/external-provider"
	// ExternalProgram is the program in the ConfigMap that Startup names. The last init container runs this program.
	ExternalProgram = "external_providers.py"
)

// These are the directories of the volume. ExternalImages contains one directory for each provider, named by the
// provider's number, with the package that an init container copied. ExternalPackages contains the Python packages.
// ExternalConfig contains the configuration that the server reads.
const (
	ExternalImages   = "images"
	ExternalPackages = "python-packages"
	ExternalConfig   = "config"
)

const (
	externalCopyPrefix = "external-provider-"
	maxContainerName   = 63
)

// ExternalCopyContainer returns the name of the init container that copies an external provider's package out of its
// image. If the ID is not valid in a container name, the name contains a valid form of the ID and a digest of the ID.
func ExternalCopyContainer(id string) string {
	folded := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return '-'
	}, strings.ToLower(id))
	if folded == id && len(externalCopyPrefix+id) <= maxContainerName {
		return externalCopyPrefix + id
	}
	sum := sha256.Sum256([]byte(id))
	digest := hex.EncodeToString(sum[:])[:HashLength]
	room := maxContainerName - len(externalCopyPrefix) - len(digest) - 1
	return externalCopyPrefix + strings.TrimRight(folded[:min(len(folded), room)], "-") + "-" + digest
}
