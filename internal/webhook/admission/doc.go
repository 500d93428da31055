// Package admission is the validating webhook of stacks. It tells a user when a
// stack is written what the operator would tell in its status afterwards: errors
// with field paths, and warnings. It calls the rules and the pipeline that the
// operator and the command line call. The existence of Secrets, ConfigMaps and
// images is not its business, because tools apply objects in any order.
package admission
