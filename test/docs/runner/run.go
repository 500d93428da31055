package runner

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/test/docs/script"
)

const (
	// shownNamespace is the namespace in the commands and the output that readers see.
	shownNamespace = "default"
	// shownHome is the home folder in the commands and the output that readers see.
	shownHome = "/home/you"
	// poll is the time between two runs of a read-only command.
	poll = 300 * time.Millisecond
)

// Place contains the folders and the settings with which a page runs.
type Place struct {
	// Folder is the folder in which the commands of the page run. It is also their home folder.
	Folder string
	// State is a folder in which the shell stores its state between two commands.
	State string
	// Namespace is the default namespace of the kubeconfig.
	Namespace  string
	Kubeconfig string
	// Programs is the first folder in $PATH.
	Programs string
	// Environment lists additional variables, as KEY=value.
	Environment []string
	// OnNode reports whether there is a node. Blocks that need a node run only in this case.
	OnNode bool
	// Limit is the time limit for a command.
	Limit time.Duration
	// Patience is the time limit for the output of a read-only command to match the expected output.
	Patience time.Duration
}

// Result is the result of a page.
type Result struct {
	// Ran is the number of visible commands that ran.
	Ran int
	// Failures are the commands that failed or whose output differs.
	Failures []Failure
	// Changes are the outputs that differ from the page, for script.Update.
	Changes []script.Change
}

// Failure describes a command that failed or whose output differs.
type Failure struct {
	Line int
	Text string
}

// Run runs the blocks of a page from top to bottom. It stops after a command that fails, because the next commands
// depend on this command. It does not stop after an output that differs from the page.
func (p *Place) Run(ctx context.Context, page *script.Page) Result {
	var result Result
	shell := &shell{place: p, folder: p.Folder}
	defer shell.close()
	for i := range page.Blocks {
		block := &page.Blocks[i]
		if block.Where == script.Nowhere || block.Where == script.Node && !p.OnNode {
			continue
		}
		if block.Title != "" && block.Language != script.Console {
			if err := p.write(block); err != nil {
				result.Failures = append(result.Failures, Failure{block.Line, err.Error()})
				return result
			}
		}
		for j := range block.Commands {
			command := &block.Commands[j]
			if !block.Hidden {
				result.Ran++
			}
			// The outputs of gate blocks can differ in a cluster with running pods, so they are not compared there.
			shown := command.Output
			if p.OnNode && block.Where == script.Gate {
				shown = nil
			}
			if block.Interrupted && j == 0 {
				command = inBackground(command)
			}
			if !p.command(ctx, shell, command, shown, &result) {
				return result
			}
		}
	}
	return result
}

// inBackground returns a command that runs the given command in the background until the end of the page.
func inBackground(command *script.Command) *script.Command {
	other := *command
	other.Text += " &"
	return &other
}

// write writes the block to its file.
func (p *Place) write(block *script.Block) error {
	file := filepath.Join(p.Folder, filepath.FromSlash(block.Title))
	if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
		return fmt.Errorf("create the folder for %q: %w", block.Title, err)
	}
	if err := os.WriteFile(file, []byte(block.Text), 0o600); err != nil {
		return fmt.Errorf("write %q: %w", block.Title, err)
	}
	return nil
}

// command runs a command with an expected output, and reports whether the next command can run.
func (p *Place) command(ctx context.Context, shell *shell, command *script.Command, shown []string,
	result *Result,
) bool {
	deadline := time.Now().Add(p.Patience)
	for {
		output, code, err := shell.run(ctx, command.Text)
		output = p.shown(output)
		ran := err == nil && code == command.Exit
		if ran && (len(shown) == 0 || script.Matches(shown, output)) {
			return true
		}
		if ctx.Err() == nil && reads(command.Text) && time.Now().Before(deadline) {
			wait(ctx, poll)
			continue
		}
		failure := Failure{Line: command.Line}
		switch {
		case err != nil:
			failure.Text = fmt.Sprintf("$ %s\n%v\n%s", command.Text, err, output)
		case !ran:
			failure.Text = fmt.Sprintf("$ %s\nexit code %d, want %d\n%s", command.Text, code, command.Exit, output)
		default:
			failure.Text = fmt.Sprintf("$ %s\n--- the page shows\n%s\n--- the command printed\n%s", command.Text,
				strings.Join(command.Output, "\n"), output)
			result.Changes = append(result.Changes, script.Change{Command: command, Output: output})
		}
		result.Failures = append(result.Failures, failure)
		return ran
	}
}

// shown replaces the test's namespace and folder with the namespace and the folder that readers see.
func (p *Place) shown(output string) string {
	if p.Namespace != "" {
		output = strings.ReplaceAll(output, p.Namespace, shownNamespace)
	}
	return strings.ReplaceAll(output, p.Folder, shownHome)
}

// reading is the pattern for read-only commands. These commands run again until their output matches the page, because
// the operator and the cluster need some time after a change.
var reading = regexp.MustCompile(`^(?:kubectl (?:get|describe|logs|events|wait|rollout status|explain|api-resources|auth can-i|` +
	`llamastack (?:status|models|events|logs|doctor|diff|version|chat))|curl)\b`)

func reads(command string) bool { return reading.MatchString(command) }

func wait(ctx context.Context, duration time.Duration) {
	timer := time.NewTimer(duration)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
