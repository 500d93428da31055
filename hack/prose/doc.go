// Command prose checks the English of the repository: comments, messages and Markdown. Each rule is a pattern with the
// words to write instead, after the style guide of the Kubernetes documentation. Part of `make lint`.
package main
