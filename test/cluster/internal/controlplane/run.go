package controlplane

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/node"
	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/process"
	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/state"
)

// Events holds functions that Run calls while a control plane starts.
type Events struct {
	// Progress receives a line for each completed step.
	Progress func(string)
	// Ready is called once, when every component is ready. If it returns an error, the control plane ends.
	Ready func() error
}

// runner is a running control plane.
type runner struct {
	folder  *state.Folder
	options Options
	ports   ports
	site    site
	node    *node.Node // nil if the cluster has no node
	group   *process.Group
	client  *http.Client
	events  Events
	start   time.Time
}

// Run starts a control plane in the given directory and keeps it running until ctx is done. It returns an error if a
// component ends. The parameter startup is the time limit for the control plane to become ready. When Run returns, all
// its processes have ended, but the directory still exists.
func Run(ctx context.Context, folder *state.Folder, o Options, startup time.Duration, events Events) (err error) {
	chosen, err := choosePorts(ctx, o.Port)
	if err != nil {
		return err
	}
	r := &runner{
		folder: folder, options: o, ports: chosen, site: alone, group: process.NewGroup(), events: events,
		start: time.Now(),
	}
	defer func() { err = errors.Join(err, r.closeNode(), r.group.Kill()) }()

	running, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	go r.watch(running, stop)

	if err := r.startAll(running, startup); err != nil {
		if ctx.Err() != nil {
			return nil // ctx ended during the start
		}
		return err
	}
	<-running.Done()
	if ctx.Err() != nil {
		return nil
	}
	return context.Cause(running)
}

// watch calls stop when a component ends.
func (r *runner) watch(ctx context.Context, stop context.CancelCauseFunc) {
	select {
	case <-ctx.Done():
	case exit := <-r.group.Exits():
		stop(r.explain(exit))
	}
}

// startAll starts the components in order. The controllers start after the API server is ready, because the controller
// manager exits if the API server has not yet created its default roles.
func (r *runner) startAll(ctx context.Context, startup time.Duration) error {
	ctx, cancel := context.WithTimeoutCause(ctx, startup,
		fmt.Errorf("not ready within %s; set a longer --timeout", startup))
	defer cancel()
	if err := r.openNode(ctx); err != nil {
		return err
	}
	if err := r.prepare(); err != nil {
		return err
	}
	if err := r.launch(ctx, etcd(r.folder, r.ports), apiServer(r.folder, r.ports, r.site,
		r.options.AuditLog)); err != nil {
		return err
	}
	if err := r.prepareNode(ctx); err != nil {
		return err
	}
	if err := await(ctx, r.client, r.site.url(r.ports)+"/readyz"); err != nil {
		return err
	}
	r.progress("API server " + r.site.url(r.ports))
	if err := r.startControllers(ctx); err != nil {
		return err
	}
	if err := r.joinNode(ctx); err != nil {
		return err
	}
	if err := r.folder.Update(func(record *state.Record) { record.Ready = true }); err != nil {
		return err
	}
	return r.events.Ready()
}

// prepare writes the files that the components read when they start.
func (r *runner) prepare() error {
	admin, authority, err := writeKeys(r.folder, r.site, r.site.url(r.ports), time.Now())
	if err != nil {
		return err
	}
	if r.client, err = newClient(authority, admin); err != nil {
		return err
	}
	if r.options.AuditLog {
		if err := writeFile(r.folder.Path("audit-policy.yaml"), []byte(auditPolicy)); err != nil {
			return err
		}
	}
	return r.folder.Update(func(record *state.Record) { record.Server = r.site.url(r.ports) })
}

// startControllers starts the requested controllers and waits until their health checks succeed.
func (r *runner) startControllers(ctx context.Context) error {
	var targets []string
	if slices.Contains(r.options.With, ControllerManager) {
		if err := r.launch(ctx, controllerManager(r.folder, r.ports)); err != nil {
			return err
		}
		targets = append(targets, url(r.ports.controllerManager)+"/healthz",
			r.site.url(r.ports)+"/api/v1/namespaces/default/serviceaccounts/default")
	}
	if slices.Contains(r.options.With, Scheduler) {
		if err := r.launch(ctx, scheduler(r.folder, r.ports)); err != nil {
			return err
		}
		targets = append(targets, url(r.ports.scheduler)+"/healthz")
	}
	for _, target := range targets {
		if err := await(ctx, r.client, target); err != nil {
			return err
		}
	}
	if len(targets) > 0 {
		r.progress(strings.Join(r.options.With, ", "))
	}
	return nil
}

// launch starts components and adds them to the record.
func (r *runner) launch(ctx context.Context, components ...component) error {
	for _, c := range components {
		identity, err := r.spawn(ctx, c)
		if err != nil {
			return err
		}
		err = r.folder.Update(func(record *state.Record) {
			record.Components = append(record.Components, state.Component{Name: c.program, Process: identity})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// spawn starts one component. By default, the component does not inherit the user's environment, because etcd reads
// settings from ETCD_* variables, and the component must not use the user's proxy for the loopback address.
func (r *runner) spawn(ctx context.Context, c component) (process.Identity, error) {
	output, err := os.OpenFile(r.logPath(c.program), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return process.Identity{}, fmt.Errorf("opening the log of %s: %w", c.program, err)
	}
	defer output.Close()
	environment := c.environment
	if len(environment) == 0 {
		environment = []string{"PATH=/usr/bin:/bin", "HOME=" + r.folder.Path(), "TMPDIR=" + r.folder.Path()}
	}
	return r.group.Start(ctx, process.Command{
		Name: c.program, Program: cmp.Or(c.path, filepath.Join(r.options.Programs, c.program)), Args: c.args,
		Input: c.input, Namespaces: c.namespaces,
		Dir: r.folder.Path(), Env: environment,
		Output: output,
	})
}

func (r *runner) logPath(program string) string { return r.folder.Path("log", program+".log") }

func (r *runner) progress(what string) {
	r.events.Progress(fmt.Sprintf("%5.1f s  %s", time.Since(r.start).Seconds(), what))
}

// explain returns an error with the reason why a component ended and the last lines of its log.
func (r *runner) explain(exit process.Exit) error {
	why := "exit code 0"
	if exit.Err != nil {
		why = exit.Err.Error()
	}
	return fmt.Errorf("%s ended (%s); the last lines of %s:\n%s", exit.Name, why, r.logPath(exit.Name),
		tail(r.logPath(exit.Name), 15))
}

// tail returns the last lines of a file, or the reason why it cannot be read.
func tail(file string, count int) string {
	data, err := os.ReadFile(file)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimRight(string(data), "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-count):], "\n")
}
