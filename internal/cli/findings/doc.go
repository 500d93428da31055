// Package findings writes the findings of a check of manifests in formats for programs: JSON, SARIF 2.1.0, and the
// workflow commands of GitHub.
package findings
