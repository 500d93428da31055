// Package docs checks the pages of the project against the project. Every requirement number has its row and its tests.
// Links, commands, options and paths exist, and examples are valid. Conditions and fields without effect are those of
// the code, and versions of Kubernetes those that are tested. Facts about the server and decisions that a comment, a
// message or a page cites exist.
package docs
