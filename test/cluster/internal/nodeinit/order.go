package nodeinit

import "github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/network"

// Setup is the first message that the process reads from its standard input. It is sent when the other end of the link
// is in the node's namespace.
type Setup struct {
	// Folder is the state directory. State is the node's part of it.
	Folder string `json:"folder"`
	State  string `json:"state"`
	// Programs lists the directories at the start of PATH.
	Programs []string `json:"programs"`
	// Network holds the node's addresses.
	Network network.Plan `json:"network"`
}

// Command is any later message: a program to start and to keep running.
type Command struct {
	// Name is the program's name, which is found in PATH, and the name of its log.
	Name string   `json:"name"`
	Args []string `json:"args"`
	// Log is the file that the program's output is appended to.
	Log string `json:"log"`
	// Needs is a Unix socket that has to accept connections before the program is started. Empty means none.
	Needs string `json:"needs,omitempty"`
}
