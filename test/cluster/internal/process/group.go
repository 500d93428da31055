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

// Command says what to start.
type Command struct {
	// Name is for messages.
	Name string
	// Program is the absolute path, Args the arguments after it.
	Program string
	Args    []string
	// Dir is the working directory and Env the whole environment.
	Dir string
	Env []string
	// Input is standard input; none when nil.
	Input *os.File
	// Output receives standard output and standard error.
	Output *os.File
	// Namespaces are flags of clone(2) for the namespaces that the child gets
	// for itself. The first process of a PID namespace takes all others of it
	// along when it ends.
	Namespaces uintptr
}

// Exit tells that a child has ended.
type Exit struct {
	Name string
	// Err is nil when the child ended with code 0.
	Err error
}

// Group starts children that live no longer than this process. Make one with
// NewGroup and end it with Kill.
type Group struct {
	starts chan func()
	exits  chan Exit
	wait   sync.WaitGroup

	mutex    sync.Mutex
	children []*exec.Cmd
}

// maxExits bounds how many exits are kept for a caller that does not listen.
const maxExits = 64

// NewGroup makes an empty group.
func NewGroup() *Group {
	g := &Group{starts: make(chan func()), exits: make(chan Exit, maxExits)}
	go g.serveStarts()
	return g
}

// serveStarts runs every start on one thread that lives as long as the group:
// the kernel sends a child its parent death signal when the *thread* that
// started it ends, and Go may end a thread at any time unless it is locked.
func (g *Group) serveStarts() {
	runtime.LockOSThread()
	for start := range g.starts {
		start()
	}
}

// Exits delivers the end of every child, those by Kill included.
func (g *Group) Exits() <-chan Exit { return g.exits }

// Start starts a child in a session of its own, so that a Ctrl-C at the
// terminal reaches this process only, and has it killed when this one dies. The end
// of ctx does not end the child: Kill does, in order.
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

// Kill kills all children, the last one started first, and returns when they
// are gone. The group cannot be used afterwards.
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
