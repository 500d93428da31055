// Command bundle writes the archive for an installation without internet access: the requested images, from registries
// or OCI layouts, with the manifests, the chart, the samples and kubectl-llamastack. The target airgap-bundle of the
// Makefile runs this command.
//
//	bundle -output bundle.tar -operator REFERENCE[=SOURCE] [-platform linux/amd64] [-allow-missing] SERVER[=SOURCE]...
//
// SERVER is a distribution in the catalog (for example, starter or starter@0.7.3), an image name that contains "/" or
// ":", or "all" for every image in the catalog. SOURCE is the location from which the command reads the image, if that
// location differs from the image's name: an image in a registry, or oci:DIR[:TAG].
package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/bundle"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bundle:", err)
		os.Exit(1)
	}
}

// options are the command-line options.
type options struct {
	output, cache, operator, tree, programs, platform string
	allowMissing                                      bool
	servers                                           []string
}

func parse(args []string, stderr io.Writer) (*options, error) {
	o := &options{}
	flags := flag.NewFlagSet("bundle", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.output, "output", "", "`file` to write")
	flags.StringVar(&o.cache, "cache", ".cache/airgap", "`folder` for pulled images, so that later runs do not pull them again")
	flags.StringVar(&o.operator, "operator", "", "operator image, as REFERENCE or REFERENCE=SOURCE")
	flags.StringVar(&o.tree, "tree", ".", "work tree with dist, charts and config")
	flags.StringVar(&o.programs, "programs", "", "`folder` with kubectl-llamastack for each platform")
	flags.StringVar(&o.platform, "platform", "", "pull only the images for this platform, such as linux/amd64; if unset, pull the images for all platforms")
	flags.BoolVar(&o.allowMissing, "allow-missing", false, "omit images that cannot be pulled, and list them")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	o.servers = flags.Args()
	if o.output == "" || o.operator == "" {
		return nil, errors.New("set -output and -operator")
	}
	return o, nil
}

func run(ctx context.Context, args []string, stderr io.Writer) error {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	wanted, err := selection(o.operator, o.servers)
	if err != nil {
		return err
	}
	puller := &puller{layout: bundle.Layout(o.cache)}
	if o.platform != "" {
		if puller.platform, err = v1.ParsePlatform(o.platform); err != nil {
			return fmt.Errorf("-platform: %w", err)
		}
	}
	images, missing := pullAll(ctx, puller, wanted, stderr)
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(missing) > 0 && !o.allowMissing {
		return fmt.Errorf("%d of %d images cannot be pulled: %s; specify another source with REFERENCE=SOURCE, select other images, or set -allow-missing to omit the images that cannot be pulled",
			len(missing), len(wanted), strings.Join(missing, ", "))
	}
	if len(images) == 0 {
		return fmt.Errorf("no image can be pulled: %s; specify another source with REFERENCE=SOURCE, or select other images",
			strings.Join(missing, ", "))
	}
	files, err := files(o.tree, o.programs, readme(images, missing))
	if err != nil {
		return err
	}
	size, err := write(ctx, o.output, puller.layout, images, files)
	if err != nil {
		return err
	}
	fmt.Fprintf(stderr, "%s: images: %d, other files: %d, %.1f MB\n", o.output, len(images), len(files), float64(size)/1e6)
	return nil
}

// pullAll pulls the wanted images. It returns the images that it pulled, and the names of the images that it could not
// pull.
func pullAll(
	ctx context.Context, from *puller, wanted []selected, stderr io.Writer,
) (images []bundle.Image, missing []string) {
	for i := range wanted {
		one := &wanted[i]
		fmt.Fprintf(stderr, "pull %s\n", one.source)
		descriptor, err := from.pull(ctx, one.source)
		if err != nil {
			fmt.Fprintf(stderr, "missing: %s: %v\n", one.reference, err)
			missing = append(missing, one.reference)
			continue
		}
		images = append(images, bundle.Image{Reference: one.reference, Operator: one.operator, Descriptor: *descriptor})
	}
	return images, missing
}

// write writes the archive and its checksum. It renames the archive only after it has written the checksum, so that no
// new archive exists without its checksum. After an error, it removes the incomplete archive.
func write(
	ctx context.Context, output string, from bundle.Layout, images []bundle.Image, files []bundle.File,
) (int64, error) {
	file, err := os.Create(output + ".part")
	if err != nil {
		return 0, fmt.Errorf("write bundle: %w", err)
	}
	sum := sha256.New()
	buffered := bufio.NewWriterSize(io.MultiWriter(file, sum), 1<<20)
	err = errors.Join(bundle.Write(ctx, buffered, from, images, files), buffered.Flush())
	info, statErr := file.Stat()
	if err = errors.Join(err, statErr, file.Close()); err == nil {
		line := fmt.Sprintf("%x  %s\n", sum.Sum(nil), filepath.Base(output))
		err = os.WriteFile(output+".sha256", []byte(line), 0o644) //nolint:gosec // a public file next to the archive
	}
	if err == nil {
		err = os.Rename(file.Name(), output)
	}
	if err != nil {
		return 0, errors.Join(fmt.Errorf("write bundle: %w", err), os.RemoveAll(file.Name()))
	}
	return info.Size(), nil
}
