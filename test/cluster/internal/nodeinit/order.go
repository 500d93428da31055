package nodeinit

import "github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/network"

// Setup is the first message that the process reads from its standard input. Package node sends it when the link's end
// is in the node's namespace.
type Setup struct {
	// Folder is the state directory. State is the node's directory in it.
	Folder string `json:"folder"`
	State  string `json:"state"`
	// Programs lists the directories at the start of PATH.
	Programs []string `json:"programs"`
	// Network holds the node's addresses.
	Network network.Plan `json:"network"`
}

// Command is the type of each later message. It describes a program to start and to keep running.
type Command struct {
	// Name is the name of the program in PATH, and the name of its log.
	Name string   `json:"name"`
	Args []string `json:"args"`
	// Log is the file to which the program's output is appended.
	Log string `json:"log"`
	// Needs is a Unix socket that must accept connections before the program is started. If it is empty, the program needs
	// no socket.
	Needs string `json:"needs,omitempty"`
}
