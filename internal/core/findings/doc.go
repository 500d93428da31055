// Package findings writes the findings of manifest checks in machine-readable formats: JSON, SARIF 2.1.0, and GitHub
// workflow commands.
package findings
