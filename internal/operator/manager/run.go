package manager

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	stdlog "log"
	"runtime/debug"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
)

// Run parses args, runs the operator until ctx ends, and returns the exit code. If version is empty, Run uses the
// version that Go recorded.
func Run(ctx context.Context, args []string, version string, getenv func(string) string, stderr io.Writer) int {
	if err := run(ctx, args, versionOr(version), getenv, stderr); err != nil {
		if errors.Is(err, pflag.ErrHelp) {
			return 0
		}
		fmt.Fprintln(stderr, "manager:", err)
		return 1
	}
	return 0
}

func run(ctx context.Context, args []string, version string, getenv func(string) string, stderr io.Writer) error {
	options, logging := Options{}, zap.Options{DestWriter: stderr}
	printVersion, err := parseFlags(args, stderr, &options, &logging)
	if err != nil {
		return err
	}
	if printVersion {
		fmt.Fprintln(stderr, version)
		return nil
	}
	logger := zap.New(zap.UseFlagOptions(&logging))
	ctrl.SetLogger(logger)
	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("find the API server: %w", err)
	}
	klog.SetLogger(logger)
	stdlog.SetFlags(0)
	stdlog.SetOutput(newStandardLog(logger.WithName("server")))
	return start(ctx, config, options, version, getenv)
}

// start waits until the API server is available, and then runs the manager until ctx ends.
func start(
	ctx context.Context, config *rest.Config, options Options, version string, getenv func(string) string,
) error {
	err := awaitAPIServer(ctx, config, options.HealthProbeBindAddress, startAttempts)
	if err != nil || ctx.Err() != nil {
		return err
	}
	mgr, err := New(ctx, config, options, version, getenv)
	if err != nil {
		return err
	}
	ctrl.Log.Info("Starting", "version", version)
	return mgr.Start(ctx)
}

// parseFlags reads the options and the log settings from args. It reports whether args request the version.
func parseFlags(args []string, stderr io.Writer, options *Options, logging *zap.Options) (version bool, err error) {
	flags := pflag.NewFlagSet("manager", pflag.ContinueOnError)
	flags.SetOutput(stderr)
	options.BindFlags(flags)
	flags.BoolVar(&version, "version", false, "print the version and exit")
	goFlags := flag.NewFlagSet("", flag.ContinueOnError)
	logging.BindFlags(goFlags)
	ctrl.RegisterFlags(goFlags) // --kubeconfig
	flags.AddGoFlagSet(goFlags)
	if err := flags.Parse(args); err != nil {
		return false, err
	}
	if rest := flags.Args(); len(rest) > 0 {
		return false, fmt.Errorf("unknown argument %q", rest[0])
	}
	return version, nil
}

// versionOr returns the given version, or the module's version that Go recorded.
func versionOr(version string) string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
