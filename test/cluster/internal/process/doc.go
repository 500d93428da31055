// Package process starts, identifies and stops programs. It ensures that no process is left running, and that no signal
// reaches a process that it did not start. Children die with their parent even if it is killed, and a recorded process
// is only signalled after its start time has shown that the process ID was not reused.
package process
