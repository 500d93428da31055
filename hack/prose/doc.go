// Command prose checks the English in the repository: comments, messages and Markdown. Each rule is a pattern with the
// words to write instead. The rules follow the style guide of the Kubernetes documentation. `make lint` runs the
// command.
package main
