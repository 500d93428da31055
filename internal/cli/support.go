package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/kube"
	"github.com/llamastack/llama-stack-k8s-operator/internal/support"
)

type supportOptions struct {
	kube.Flags
	operatorNamespace string
	output            string
	serverLogs        bool
}

func newSupportBundleCommand(streams Streams, version string) *cobra.Command {
	options := supportOptions{}
	command := &cobra.Command{
		Use:   "support-bundle [NAME…] --output FILE",
		Short: "Write an archive about stacks and the operator for a support case, without secrets",
		Long: `Write an archive for a support case: the stacks with their objects and events, the
operator with its logs and its ConfigMap, the definition, the webhooks, the
admission policy, the findings of doctor, and versions. Without names, the archive
has every stack that the flags select.

The archive has no secret. Of a Secret it has the names of the keys. These values
are replaced by <redacted>: literal environment variables other than the operator's
own, arguments of containers, annotations other than the operator's own, values of
keys that name a credential, user information in URLs, tokens and private keys in a
known form, and every value of a Secret that a stack uses, wherever it occurs. Of a
ConfigMap it has only configurations in YAML, and certificates.

Logs of servers are left out, because a server may print what clients send, and
secrets in a form that is not recognized. --server-logs adds them. Read the archive
before you pass it on.

If you may not read something, the file left-out.txt in the archive names the
right. The command changes nothing in the cluster.`,
		Example: `  kubectl llamastack support-bundle my-stack -o support.tar.gz
  kubectl llamastack support-bundle -A --server-logs -o support.tar.gz`,
		RunE: func(command *cobra.Command, args []string) error {
			ctx, stop := interruptible(command)
			defer stop()
			return runSupportBundle(ctx, streams, version, args, &options)
		},
	}
	options.AddConnection(command)
	options.AddScope(command)
	addOperatorNamespace(command, &options.operatorNamespace)
	command.Flags().
		StringVarP(&options.output, "output", "o", "", "file to write, for example support.tar.gz; - for standard output")
	command.Flags().
		BoolVar(&options.serverLogs, "server-logs", false,
			"add the logs of servers, which may have secrets in a form that is not recognized")
	must(command.MarkFlagRequired("output"))
	return command
}

func runSupportBundle(
	ctx context.Context, streams Streams, version string, stacks []string, options *supportOptions,
) error {
	if len(stacks) > 0 && (options.AllNamespaces || options.Selector != "") {
		return errors.New("name stacks, or select them with --all-namespaces or --selector, but not both")
	}
	cluster, err := options.Connect(version)
	if err != nil {
		return err
	}
	p := newPrinter(streams)
	c, err := newCollector(cluster, p, options.serverLogs)
	if err != nil {
		return err
	}
	material, err := c.collect(ctx, stacks, options, version)
	if err != nil {
		return rejected(err)
	}
	files, err := material.Files()
	if err != nil {
		return rejected(err)
	}
	var archive bytes.Buffer
	if err := support.Write(&archive, files); err != nil {
		return rejected(err)
	}
	size := archive.Len()
	if err := writeArchive(streams.Out, options.output, &archive); err != nil {
		return rejected(err)
	}
	if left := len(material.LeftOut); left > 0 {
		what := "1 thing is"
		if left > 1 {
			what = fmt.Sprintf("%d things are", left)
		}
		p.warning(what + " left out; the file left-out.txt in the archive lists the reasons")
	}
	p.ok(
		fmt.Sprintf("%s has %d files, %.1f KB; read it before you pass it on", options.output, len(files), float64(size)/1e3),
	)
	return nil
}

// writeArchive writes a file that only the user may read, and that exists only when it is complete.
func writeArchive(stdout io.Writer, path string, archive *bytes.Buffer) (err error) {
	if path == "-" {
		_, err = archive.WriteTo(stdout)
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(path), ".support-bundle-*") // its mode is 0600
	if err != nil {
		return fmt.Errorf("write the archive: %w", err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(file.Name())
		}
	}()
	if _, err = archive.WriteTo(file); err != nil {
		_ = file.Close()
		return fmt.Errorf("write the archive: %w", err)
	}
	if err = file.Close(); err != nil {
		return fmt.Errorf("write the archive: %w", err)
	}
	if err = os.Rename(file.Name(), path); err != nil {
		return fmt.Errorf("write the archive: %w", err)
	}
	return nil
}
