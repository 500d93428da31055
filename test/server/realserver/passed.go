package realserver

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

// Changed returns the offered lines that have not passed all tiers since their data last changed, in ascending order.
func Changed() ([]string, error) {
	recorded, err := readRecord()
	if err != nil {
		return nil, err
	}
	var changed []string
	for _, line := range release.Offered() {
		digest, err := dataDigest(line)
		if err != nil {
			return nil, err
		}
		if recorded[line] != digest {
			changed = append(changed, line)
		}
	}
	return changed, nil
}

// Record records that the lines passed all tiers with their current data.
func Record(lines []string) error {
	recorded, err := readRecord()
	if err != nil {
		return err
	}
	for _, line := range lines {
		if recorded[line], err = dataDigest(line); err != nil {
			return err
		}
	}
	var text bytes.Buffer
	for _, line := range slices.SortedFunc(maps.Keys(recorded), release.Compare) {
		fmt.Fprintf(&text, "%s  %s\n", recorded[line], line)
	}
	if err := os.WriteFile(recordFile(), text.Bytes(), 0o644); err != nil { //nolint:gosec // a file of the work tree, which everyone may read
		return fmt.Errorf("record the release lines that passed: %w", err)
	}
	return nil
}

// readRecord returns the recorded digests, keyed by line.
func readRecord() (map[string]string, error) {
	text, err := os.ReadFile(recordFile())
	if err != nil {
		return nil, fmt.Errorf("read the release lines that passed: %w", err)
	}
	recorded := map[string]string{}
	for row := range strings.Lines(string(text)) {
		fields := strings.Fields(row)
		if len(fields) != 2 {
			return nil, fmt.Errorf("read the release lines that passed: %q is not a digest and a release line", row)
		}
		recorded[fields[1]] = fields[0]
	}
	return recorded, nil
}

// dataDigest returns the digest of a line's data. It omits the comments, the reasons and the names of tests in the
// overlays, because they have no effect on a server.
func dataDigest(line string) (string, error) {
	data := filepath.Join(here(), "..", "..", "..", "internal", "core", "stackconfig", "release", "data")
	files, err := filepath.Glob(filepath.Join(data, line+".*"))
	if err != nil {
		return "", err
	}
	hash := sha256.New()
	for _, file := range append(files, filepath.Join(data, "shared.overlay.yaml")) {
		content, err := os.ReadFile(file)
		if err != nil {
			return "", fmt.Errorf("read the release data: %w", err)
		}
		if strings.HasSuffix(file, ".overlay.yaml") {
			if content, err = withoutReasons(content); err != nil {
				return "", fmt.Errorf("read the release data in %s: %w", filepath.Base(file), err)
			}
		}
		hash.Write(content)
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// withoutReasons returns an overlay in JSON, without the reasons and the tests of its corrections.
func withoutReasons(overlay []byte) ([]byte, error) {
	var content map[string]any
	if err := yaml.Unmarshal(overlay, &content); err != nil {
		return nil, err
	}
	corrections, _ := content["corrections"].([]any)
	for _, correction := range corrections {
		if fields, ok := correction.(map[string]any); ok {
			delete(fields, "reason")
			delete(fields, "test")
		}
	}
	return json.Marshal(content)
}

func recordFile() string { return filepath.Join(here(), "passed.txt") }
