// Package docs checks that the pages match the code. Every requirement number has a row and tests. Links, commands,
// options and paths on the pages exist, and examples are valid. The pages list the same conditions and the same fields
// without effect as the code, and the same versions of Kubernetes as the tests. The facts about the server and the
// decisions that a comment, a message or a page cites exist.
package docs
