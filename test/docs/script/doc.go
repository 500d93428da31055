// Package script parses the text of a documentation page as a script: files to write, commands to run, and the output
// that the page shows. It does not access the file system.
package script
