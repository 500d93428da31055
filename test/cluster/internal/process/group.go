package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"sync"
	"syscall"
)

// Command describes a program to start.
type Command struct {
	// Name is the name of the program in messages.
	Name string
	// Program is the absolute path of the program. Args are its arguments.
	Program string
	Args    []string
	// Dir is the working directory. Env is the complete environment.
	Dir string
	Env []string
	// Input is the standard input. If it is nil, the program has no input.
	Input *os.File
	// Output receives the standard output and the standard error.
	Output *os.File
	// Namespaces are flags of clone(2) for the new namespaces of the child. When the first process of a PID namespace
	// ends, all other processes in the namespace also end.
	Namespaces uintptr
}

// Exit describes the exit of a child.
type Exit struct {
	Name string
	// Err is nil when the child ended with code 0.
	Err error
}

// Group starts children that end no later than this process. Create a group with NewGroup and end it with Kill.
type Group struct {
	starts chan func()
	exits  chan Exit
	wait   sync.WaitGroup

	mutex    sync.Mutex
	children []*exec.Cmd
}

// maxExits is the capacity of the channel that Exits returns. If the channel is full because no caller receives the
// exits, the group drops further exits.
const maxExits = 64

// NewGroup returns an empty group.
func NewGroup() *Group {
	g := &Group{starts: make(chan func()), exits: make(chan Exit, maxExits)}
	go g.serveStarts()
	return g
}

// serveStarts starts every child on one thread that lives as long as the group. The kernel sends a child its parent
// death signal when the *thread* that started it ends, and Go can end any thread that is not locked.
func (g *Group) serveStarts() {
	runtime.LockOSThread()
	for start := range g.starts {
		start()
	}
}

// Exits returns a channel with the exit of every child, including those that Kill ends.
func (g *Group) Exits() <-chan Exit { return g.exits }

// Start starts a child in a new session, so that a Ctrl-C at the terminal reaches only this process. The kernel kills
// the child when this process ends. Canceling ctx does not end the child, because Kill ends the children in order.
func (g *Group) Start(ctx context.Context, c Command) (Identity, error) {
	child := exec.CommandContext(context.WithoutCancel(ctx), c.Program, c.Args...)
	child.Dir, child.Env = c.Dir, c.Env
	child.Stdout, child.Stderr = c.Output, c.Output
	if c.Input != nil {
		child.Stdin = c.Input
	}
	child.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL, Cloneflags: c.Namespaces}

	started := make(chan error)
	g.starts <- func() { started <- child.Start() }
	if err := <-started; err != nil {
		return Identity{}, fmt.Errorf("starting %s: %w", c.Name, err)
	}
	identity, err := Identify(child.Process.Pid)
	g.mutex.Lock()
	g.children = append(g.children, child)
	g.mutex.Unlock()
	g.wait.Go(func() {
		err := child.Wait()
		select {
		case g.exits <- Exit{Name: c.Name, Err: err}:
		default:
		}
	})
	return identity, err
}

// Kill kills all children, in the reverse order of their start, and returns when they have ended. The group cannot be
// used afterwards.
func (g *Group) Kill() error {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	var problems []error
	for _, child := range slices.Backward(g.children) {
		err := child.Process.Kill()
		if err != nil && !errors.Is(err, os.ErrProcessDone) {
			problems = append(problems, fmt.Errorf("killing %s: %w", child.Path, err))
		}
	}
	g.wait.Wait()
	close(g.starts)
	return errors.Join(problems...)
}
