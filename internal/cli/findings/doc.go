// Package findings writes what a check finds in manifests for programs: JSON, SARIF 2.1.0, and the workflow commands of
// GitHub.
package findings
