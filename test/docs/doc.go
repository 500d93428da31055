// Package docs checks that the pages match the code. Every requirement number has a row and tests. Links, commands,
// options and paths exist, and examples are valid. Conditions and fields without effect are the same as in the code,
// and versions of Kubernetes are the same as in the tests. The facts about the server and the decisions that a comment,
// a message or a page cites exist.
package docs
