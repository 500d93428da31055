// Package process starts, identifies and stops programs. It ensures that no process is left running, and that no signal
// reaches a process that it did not start. Children are killed when their parent ends, even if the parent is killed. A
// recorded process is signaled only if its start time shows that its process ID was not reused.
package process
