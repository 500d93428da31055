// Package script reads a documentation page as a script: files to write, commands to run, and the output that the page
// shows. It does not read or write files.
package script
