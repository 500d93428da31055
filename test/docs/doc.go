// Package docs checks that the pages match the code. Every requirement number has a row and tests. Links, commands,
// options and paths on the pages exist, and examples are valid. The commands on the pages produce the output that the
// pages show. The conditions on the pages match the code, and the Kubernetes versions match the tests. Every fact about
// the server and every decision record that is cited by a comment, a message or a page exists.
package docs
