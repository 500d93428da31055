package nodeinit

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// Run runs the first process of the node. It returns only when the node cannot continue. It writes progress messages to
// output.
func Run(input io.Reader, output io.Writer) error {
	if os.Getpid() != 1 {
		return fmt.Errorf("the process ID is %d, but a node requires process ID 1: use `cluster up --node`", os.Getpid())
	}
	messages := json.NewDecoder(input)
	var setup Setup
	if err := messages.Decode(&setup); err != nil {
		return fmt.Errorf("reading the settings of the node: %w", err)
	}
	if err := mountAll(setup); err != nil {
		return err
	}
	if err := addAddresses(setup.Network); err != nil {
		return err
	}
	fmt.Fprintln(output, "the node's namespaces are set up")

	k := newKeeper(setup, output)
	go k.read(messages)
	return k.run()
}
