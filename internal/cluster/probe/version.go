package probe

import (
	"encoding/json"
	"regexp"
)

// maxVersion is the maximum size of the response to versionPath in bytes.
const maxVersion = 4 << 10

// versionForm matches valid versions. The status shows the version, so it must not be arbitrary text from a server.
var versionForm = regexp.MustCompile(`^[0-9][0-9A-Za-z.+_-]{0,62}$`)

// parseVersion parses {"version": "0.7.1"}.
func parseVersion(body []byte) (string, error) {
	var answer struct {
		Version string `json:"version"`
	}
	if json.Unmarshal(body, &answer) != nil { // the error can quote the response
		return "", &finalError{"the response with the version is not JSON, or has an unexpected structure"}
	}
	if !versionForm.MatchString(answer.Version) {
		return "", &finalError{"the response has no valid version"}
	}
	return answer.Version, nil
}
