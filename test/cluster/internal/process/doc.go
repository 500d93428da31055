// Package process starts, identifies and stops programs so that none is left
// behind and none is mistaken for another: children die with their parent even
// when it is killed, and a recorded process is only signalled after its start
// time has shown that the process id was not reused.
package process
