//go:build server

package registry

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
	"github.com/llamastack/llama-stack-k8s-operator/test/server/realserver"
)

// password is the password of Redis and PostgreSQL. It contains characters that must be encoded in a URL. It must not
// appear in any output.
const password = "canary/with:odd@signs#and?%41+ [x]"

const postgresUser = "llamastack"

// unprivileged is the user ID under which PostgreSQL runs if the test runs as root, because PostgreSQL cannot run as
// root. This user ID is valid on every Linux system.
const unprivileged = 65534

// services are the servers that all tests share.
type services struct {
	redis, postgres int // their ports
	psql            string
}

var shared services

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	defer knownPeers.stop()
	scratch, err := os.MkdirTemp("", "llama-stack-registry-test-")
	if err == nil {
		defer os.RemoveAll(scratch)
		err = os.Chmod(scratch, 0o755)
	}
	if err == nil {
		err = shared.start(ctx, scratch)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// start starts Redis and PostgreSQL. They stop when the context is done, and at the latest when the test process ends.
func (s *services) start(ctx context.Context, dir string) error {
	support, err := realserver.InstallSupport(ctx)
	if err != nil {
		return err
	}
	if s.redis, err = testutil.FreePort(); err != nil {
		return err
	}
	redis := exec.CommandContext(ctx, filepath.Join(support.Redis, "redis-server"), "--bind", "127.0.0.1",
		"--port", strconv.Itoa(s.redis), "--requirepass", password, "--save", "", "--appendonly", "no")
	redis.Dir, redis.SysProcAttr = dir, &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := redis.Start(); err != nil {
		return fmt.Errorf("start Redis: %w", err)
	}
	if err := s.startPostgres(ctx, support.Postgres, dir); err != nil {
		return err
	}
	return s.wait(ctx)
}

func (s *services) startPostgres(ctx context.Context, installation, dir string) error {
	attributes := &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if os.Geteuid() == 0 {
		// The cache is in root's home directory, which no other user can read, so the function copies the programs of
		// PostgreSQL. The programs find their libraries by a relative path.
		packages := filepath.Join(installation, "..", "..")
		if err := os.CopyFS(dir, os.DirFS(packages)); err != nil {
			return fmt.Errorf("copy PostgreSQL: %w", err)
		}
		relative, err := filepath.Rel(packages, installation)
		if err != nil {
			return fmt.Errorf("copy PostgreSQL: %w", err)
		}
		installation = filepath.Join(dir, relative)
		attributes.Credential = &syscall.Credential{Uid: unprivileged, Gid: unprivileged}
	}
	home := filepath.Join(dir, "postgres")
	secret := filepath.Join(home, "password")
	if err := os.Mkdir(home, 0o700); err != nil {
		return fmt.Errorf("make the directory of PostgreSQL: %w", err)
	}
	if err := os.WriteFile(secret, []byte(password), 0o600); err != nil {
		return fmt.Errorf("write the password of PostgreSQL: %w", err)
	}
	if attributes.Credential != nil {
		for _, path := range []string{home, secret} {
			if err := os.Chown(path, unprivileged, unprivileged); err != nil {
				return fmt.Errorf("make PostgreSQL the owner of %q: %w", path, err)
			}
		}
	}
	data, bin := filepath.Join(home, "data"), filepath.Join(installation, "bin")
	s.psql = filepath.Join(bin, "psql")
	initdb := exec.CommandContext(ctx, filepath.Join(bin, "initdb"), "--pgdata="+data, "--username="+postgresUser,
		"--pwfile="+secret, "--auth=scram-sha-256", "--encoding=UTF8", "--no-locale", "--no-sync")
	initdb.Dir, initdb.SysProcAttr = home, attributes
	if output, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("initialize PostgreSQL: %w\n%s", err, output)
	}
	var err error
	if s.postgres, err = testutil.FreePort(); err != nil {
		return err
	}
	server := exec.CommandContext(ctx, filepath.Join(bin, "postgres"), "-D", data, "-p", strconv.Itoa(s.postgres),
		"-c", "max_connections=200", "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", "-c", "fsync=off")
	server.Dir, server.SysProcAttr = home, attributes
	// After SIGINT, PostgreSQL shuts down without waiting for its clients.
	server.Cancel = func() error { return server.Process.Signal(os.Interrupt) }
	if err := server.Start(); err != nil {
		return fmt.Errorf("start PostgreSQL: %w", err)
	}
	return nil
}

// wait waits until Redis and PostgreSQL accept connections.
func (s *services) wait(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		_, err := s.query(ctx, "SELECT 1")
		if err == nil {
			var connection net.Conn
			var dialer net.Dialer
			connection, err = dialer.DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(s.redis)))
			if err == nil {
				return connection.Close()
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for Redis and PostgreSQL: %w", err)
		case <-tick.C:
		}
	}
}

// query runs a statement in PostgreSQL and returns its output.
func (s *services) query(ctx context.Context, statement string) (string, error) {
	cmd := exec.CommandContext(ctx, s.psql, "--host=127.0.0.1", "--port="+strconv.Itoa(s.postgres),
		"--username="+postgresUser,
		"--no-password", "--dbname=postgres", "--tuples-only", "--no-align", "--command="+statement)
	cmd.Env = append(os.Environ(), "PGPASSWORD="+password)
	output, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("run %q: %w: %s", statement, err, output)
	}
	return string(output), nil
}
