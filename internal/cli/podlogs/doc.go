// Package podlogs chooses the pods and containers whose logs help with a stack, and merges the logs of several pods
// line by line. The memory that it takes does not depend on the length of a line.
package podlogs
