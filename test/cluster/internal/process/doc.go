// Package process starts, identifies and stops programs so that none is left behind and none is mistaken for another.
// Children die with their parent even if it is killed, and a recorded process is only signalled after its start time
// has shown that the process ID was not reused.
package process
