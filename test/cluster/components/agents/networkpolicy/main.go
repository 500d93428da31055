// Command networkpolicy enforces NetworkPolicies on the packets that the node forwards. It renders all policies as one
// nftables table, and replaces the whole table whenever policies, pods or namespaces change. Probes are not affected,
// because the node itself sends them, and does not forward them.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

const (
	// settle is the delay between a change and the rendering of the table. Changes during the delay are rendered together.
	settle = 20 * time.Millisecond
	// retryPause is the pause before the table is rendered and loaded again after a failure.
	retryPause = time.Second
)

func main() {
	kubeconfig := flag.String("kubeconfig", "", "kubeconfig `file` for the API server")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *kubeconfig); err != nil {
		fmt.Fprintln(os.Stderr, "networkpolicy:", err)
		os.Exit(1) //nolint:gocritic // the exit also frees everything that the deferred stop would free
	}
}

// run enforces policies until ctx is done.
func run(ctx context.Context, kubeconfig string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return fmt.Errorf("reading %q: %w", kubeconfig, err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	e := enforcer{factory: factory, changed: make(chan struct{}, 1)}
	for _, informer := range []cache.SharedIndexInformer{
		factory.Core().V1().Pods().Informer(), factory.Core().V1().Namespaces().Informer(), factory.Networking().V1().NetworkPolicies().Informer(),
	} {
		if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: func(any) { e.poke() }, UpdateFunc: func(any, any) { e.poke() }, DeleteFunc: func(any) { e.poke() },
		}); err != nil {
			return fmt.Errorf("watching: %w", err)
		}
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	e.follow(ctx)
	return nil
}

// enforcer keeps the kernel's table consistent with the objects in the API server.
type enforcer struct {
	factory informers.SharedInformerFactory
	changed chan struct{}
}

// poke signals that something has changed.
func (e enforcer) poke() {
	select {
	case e.changed <- struct{}{}:
	default: // a signal is already pending
	}
}

// follow renders and loads the table after each change.
func (e enforcer) follow(ctx context.Context) {
	loaded := ""
	for {
		select {
		case <-ctx.Done():
			return
		case <-e.changed:
		}
		<-time.After(settle)
		wanted, err := e.render()
		if err == nil && wanted != loaded {
			err = load(ctx, wanted)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "networkpolicy:", err)
			time.AfterFunc(retryPause, e.poke)
			continue
		}
		loaded = wanted
	}
}

// render renders the table from the caches.
func (e enforcer) render() (string, error) {
	var c cluster
	var err error
	if c.pods, err = e.factory.Core().V1().Pods().Lister().List(labels.Everything()); err != nil {
		return "", err
	}
	if c.namespaces, err = e.factory.Core().V1().Namespaces().Lister().List(labels.Everything()); err != nil {
		return "", err
	}
	if c.policies, err = e.factory.Networking().V1().NetworkPolicies().Lister().List(labels.Everything()); err != nil {
		return "", err
	}
	return c.table(), nil
}

// load replaces the table in one step.
func load(ctx context.Context, table string) error {
	command := exec.CommandContext(ctx, "nft", "--file", "-")
	command.Stdin = strings.NewReader(table)
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("loading the rules: %w\n%s", err, out)
	}
	return nil
}
