// Package logs implements the command logs. It chooses the pods and containers whose logs it shows, and merges the
// logs of several pods line by line. Its memory usage does not depend on the length of a line.
package logs
