package support

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/files"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/kube"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/visible"
)

type supportOptions struct {
	kube.Flags
	operatorNamespace string
	output            string
	serverLogs        bool
}

const supportHelp = `Write an archive for a support case. It contains the stacks with their objects and
events, the operator with its logs and its ConfigMap, the CustomResourceDefinition,
the webhooks, the admission policy, the findings of doctor, and versions. Without
names, it contains every stack that the flags select.

The archive shows only text at places that are known to hold no secrets: names of
objects and keys, images, types, conditions, common settings, and URLs without user
information, query and long path segments. The text <redacted> replaces all other text,
for example environment variables, arguments, annotations, options of volumes, headers,
and unknown settings. It also replaces this text, and every value of a Secret that a
stack uses, in messages and logs. Of the data in a Secret, the archive contains only
the names of the keys. Of the data in a ConfigMap, it contains only YAML configurations
and certificates. It contains the messages only of events with a known reason.

The archive does not contain server logs, because a server might print client data,
or secrets that the command does not recognize. To add these logs, set
--server-logs. Read the archive before you send it to anyone.

The file left-out.txt in the archive lists the objects that you cannot read, with the
missing permissions. The command changes nothing in the cluster.`

// Command returns the command support-bundle.
func Command(streams app.Streams, version string) *cobra.Command {
	options := supportOptions{}
	command := &cobra.Command{
		Use:   "support-bundle [NAME…] --output FILE",
		Short: "Collect data about stacks and the operator in an archive for a support case, without secrets",
		Long:  supportHelp,
		Example: `  kubectl llamastack support-bundle my-stack -o support.tar.gz
  kubectl llamastack support-bundle -A --server-logs -o support.tar.gz`,
		RunE: func(command *cobra.Command, args []string) error {
			ctx, stop := app.Interruptible(command)
			defer stop()
			return runSupportBundle(ctx, streams, version, args, &options)
		},
	}
	options.AddScope(command)
	app.AddOperatorNamespace(command, &options.operatorNamespace)
	flags := command.Flags()
	flags.StringVarP(&options.output, "output", "o", "", "file to write, for example support.tar.gz; - for standard output")
	flags.BoolVar(&options.serverLogs, "server-logs", false,
		"add server logs, which might contain secrets that the command does not recognize")
	app.Must(command.MarkFlagRequired("output"))
	return command
}

func runSupportBundle(
	ctx context.Context, streams app.Streams, version string, stacks []string, options *supportOptions,
) error {
	if len(stacks) > 0 && (options.AllNamespaces || options.Selector != "") {
		return errors.New("stack names cannot be used with --all-namespaces or --selector; remove the names, or " +
			"remove the flags")
	}
	cluster, err := options.Connect(version)
	if err != nil {
		return err
	}
	p := app.NewPrinter(streams)
	c, err := newCollector(cluster, p, options.serverLogs)
	if err != nil {
		return err
	}
	material, err := c.collect(ctx, stacks, options, version)
	if err != nil {
		return app.Rejected(err)
	}
	return options.write(streams, material, p)
}

// write writes the archive, and prints its size and the number of omissions.
func (o *supportOptions) write(streams app.Streams, material *Material, p app.Printer) error {
	contents, complete, err := material.Files()
	if err != nil {
		return app.Rejected(err)
	}
	var archive bytes.Buffer
	if err := Write(&archive, contents); err != nil {
		return app.Rejected(err)
	}
	size := archive.Len()
	if err := writeArchive(streams.Out, o.output, &archive); err != nil {
		return app.Rejected(err)
	}
	if !complete {
		p.Warning("the archive is not complete; the file left-out.txt in the archive lists the missing information and " +
			"the reasons")
	}
	archiveName := o.output
	if archiveName == "-" {
		archiveName = "the archive"
	}
	p.OK(fmt.Sprintf("%s has %d files, %.1f KB; read the archive before you send it to anyone", archiveName, len(contents),
		float64(size)/1e3))
	return nil
}

// writeArchive writes a file that only the user can read. For the path "-", it writes to standard output.
func writeArchive(stdout io.Writer, path string, archive *bytes.Buffer) error {
	if path == "-" {
		_, err := archive.WriteTo(visible.Raw(stdout))
		return err
	}
	if err := files.Replace(path, archive.Bytes(), 0o600); err != nil {
		return fmt.Errorf("write the archive: %w", err)
	}
	return nil
}
