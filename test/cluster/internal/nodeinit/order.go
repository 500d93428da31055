package nodeinit

import "github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/network"

// Setup is the first message that the process reads from its standard input.
// It is sent once the link has its other end in the node's namespace.
type Setup struct {
	// Folder is the state folder, State the node's own part of it.
	Folder string `json:"folder"`
	State  string `json:"state"`
	// Programs are the folders that PATH starts with.
	Programs []string `json:"programs"`
	// Network says the node's addresses.
	Network network.Plan `json:"network"`
}

// Command is every further message: a program to start and to keep running.
type Command struct {
	// Name is the program's, found in PATH, and that of its log.
	Name string   `json:"name"`
	Args []string `json:"args"`
	// Log is the file that the program's output is appended to.
	Log string `json:"log"`
	// Needs is a Unix socket that has to accept connections before the program
	// is started; "" for none.
	Needs string `json:"needs,omitempty"`
}
