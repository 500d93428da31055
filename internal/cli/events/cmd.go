package events

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/eventlist"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/kube"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/layout"
)

type eventsOptions struct {
	kube.Flags
	output   string
	since    time.Duration
	warnings bool
}

const eventsHelp = `List the events of a stack and of its objects: the Deployment, the ReplicaSets, the
pods, the PersistentVolumeClaim, the autoscaler, the Ingress and other objects that
the operator created for the stack. The list includes the events of deleted objects.
Identical events share one line, which shows their count. The list has the newest
5000 lines.

Without a name, the command uses the only stack in the namespace.
Clusters keep events for one hour, unless an administrator has changed this period.`

// Command returns the command events.
func Command(streams app.Streams, version string) *cobra.Command {
	options := eventsOptions{}
	command := &cobra.Command{
		Use:   "events [NAME]",
		Short: "List the events of a stack and its objects, newest last",
		Long:  eventsHelp,
		Example: `  kubectl llamastack events my-stack --since 10m
  kubectl llamastack events my-stack --warnings`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			if err := cmp.Or(app.CheckSince(options.since), app.CheckForm(options.output)); err != nil {
				return err
			}
			return app.OnCluster(command, streams, &options.Flags, version,
				func(ctx context.Context, cluster *kube.Cluster, page *bytes.Buffer) error {
					return options.run(ctx, cluster, args, streams.Width, page)
				})
		},
	}
	options.AddNamespace(command)
	flags := command.Flags()
	flags.StringVarP(&options.output, "output", "o", app.FormTable, "table, json or yaml")
	flags.DurationVar(&options.since, "since", 0, "maximum age of the listed events, for example 10m (default: all events)")
	flags.BoolVar(&options.warnings, "warnings", false, "list warnings before other events")
	return command
}

// run writes the events of a stack to the page.
func (o *eventsOptions) run(
	ctx context.Context, cluster *kube.Cluster, args []string, width int, page *bytes.Buffer,
) error {
	name, err := cluster.Name(ctx, args)
	if err != nil {
		return err
	}
	collector, err := o.collect(ctx, cluster, name)
	if err != nil {
		return err
	}
	at, selected := time.Now(), eventlist.Options{WarningsFirst: o.warnings}
	if o.since > 0 {
		selected.Since = at.Add(-o.since)
	}
	events := collector.Events(selected)
	if len(events) == 0 { // the stack might not exist
		if _, err := cluster.Stack(ctx, name); err != nil {
			return err
		}
	}
	if o.output != app.FormTable {
		return app.WriteData(page, o.output, events)
	}
	if len(events) == 0 {
		text := fmt.Sprintf("The cluster has no events for stack %q. By default, a cluster keeps events for one hour.", name)
		if o.since > 0 {
			text = fmt.Sprintf("The cluster has no events for stack %q from the last %v. To list older events, remove --since.",
				name, o.since)
		}
		page.WriteString(layout.Paragraph(text, width))
	} else {
		page.WriteString(eventlist.Table(events, width, at))
	}
	if collector.LeftOut {
		text := fmt.Sprintf("The stack has more than %d different events; the older ones are left out.", eventlist.MaxEvents)
		page.WriteString(layout.Paragraph(text, width))
	}
	return nil
}

// collect reads the events in the namespace page by page, and keeps the stack's events.
func (o *eventsOptions) collect(ctx context.Context, cluster *kube.Cluster, name string) (*eventlist.Collector, error) {
	collector := eventlist.NewCollector(name)
	selector, err := fields.ParseSelector(eventlist.Selector)
	if err != nil {
		return nil, fmt.Errorf("select events: %w", err)
	}
	list := &corev1.EventList{}
	err = cluster.Pages(ctx, list, func() error {
		collector.Add(list.Items)
		return nil
	}, client.InNamespace(cluster.Namespace), client.MatchingFieldsSelector{Selector: selector})
	return collector, err
}
