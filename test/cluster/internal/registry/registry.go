package registry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"
)

// Registry is a running registry.
type Registry struct {
	server   *http.Server
	listener net.Listener
}

// Serve starts a registry at the given address (host:port). The registry stores layers in the given directory, and the
// manifests of images in memory. Close stops it.
func Serve(ctx context.Context, address, folder string) (*Registry, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("preparing the registry: %w", err)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("starting the registry: %w", err)
	}
	silent := log.New(io.Discard, "", 0)
	r := &Registry{listener: listener, server: &http.Server{
		Handler: registry.New(registry.WithBlobHandler(registry.NewDiskBlobHandler(folder)),
			registry.Logger(silent)),
		ReadHeaderTimeout: time.Minute,
		ErrorLog:          silent,
	}}
	go func() { _ = r.server.Serve(listener) }() // ends with Close
	return r, nil
}

// Address returns the address that the registry listens on, as host:port.
func (r *Registry) Address() string { return r.listener.Addr().String() }

// Close stops the registry immediately, without waiting for requests.
func (r *Registry) Close() error {
	if err := r.server.Close(); err != nil && !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("stopping the registry: %w", err)
	}
	return nil
}
