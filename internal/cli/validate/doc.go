// Package validate implements the command validate. It plans stacks in files, and prints the findings as text, JSON,
// SARIF or annotations.
package validate
