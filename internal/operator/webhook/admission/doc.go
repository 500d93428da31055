// Package admission is the validating webhook for stacks. When a user writes a stack, the webhook reports the errors,
// with field paths, and the warnings that the operator would otherwise report later in the status. It uses the same
// rules and the same pipeline as the operator and the command line. It also asks the API server whether it would accept
// the objects of the stack. It does not check that Secrets, ConfigMaps and images exist, because tools apply objects in
// any order.
package admission
