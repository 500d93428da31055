package secretvalue

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Part is a part of a Secret's value.
type Part string

// These are the parts of a PostgreSQL connection string, and the URL-encoded form of a whole value.
const (
	PartHost Part = "host"
	// PartHostPlain is the host for a backend that cannot be configured to use TLS. Derive returns an error if the
	// connection string requires TLS.
	PartHostPlain Part = "host-plain"
	PartPort      Part = "port"
	PartDB        Part = "db"
	PartUser      Part = "user"
	PartPassword  Part = "password"
	// PartPasswordEncoded is the password, URL-encoded, for a backend that inserts it into a URL unchanged.
	PartPasswordEncoded Part = "password-encoded"
	// PartSSLMode is the sslmode of the connection string, or PostgreSQL's default, `prefer`.
	PartSSLMode Part = "sslmode"
	// PartEncoded is the whole value, URL-encoded.
	PartEncoded Part = "encoded"
)

// Derived is one entry of the Secret <name>-storage: a part of a value in another Secret.
type Derived struct {
	// Key is the key in <name>-storage.
	Key string
	// Secret and SecretKey identify the value from which the entry is derived.
	Secret, SecretKey string
	// Part is the part of that value.
	Part Part
	// FieldPath is the path of the spec field that refers to that Secret.
	FieldPath string
	// TLSFrom is the first release whose backend can be configured to use TLS. It is set only for PartHostPlain, and empty
	// if no release has one.
	TLSFrom string `json:",omitempty"`
}

// errTLS reports a connection string that requires TLS for a backend that cannot be configured to use TLS.
type errTLS struct{ sslMode string }

func (e errTLS) Error() string {
	return fmt.Sprintf("the connection string sets sslmode=%s, which this server release does not support for this store", e.sslMode)
}

// Derive returns the entry's part of a value (see Derive), or an error with the remedy.
func (d *Derived) Derive(value string) (string, error) {
	part, err := Derive(d.Part, value)
	if _, insists := errors.AsType[errTLS](err); insists {
		const weaker = "set sslmode=prefer, with which the server may connect without TLS"
		if d.TLSFrom == "" {
			return "", fmt.Errorf("%w; %s", err, weaker)
		}
		return "", fmt.Errorf("%w; use server release %s or later, or %s", err, d.TLSFrom, weaker)
	}
	return part, err
}

// Derive returns a part of a Secret's value. The value is a connection string: postgresql://user:password@host:port/db
// or host=… user=…. For PartEncoded, the value can be any text that Usable accepts. The server's type conversion leaves
// the result unchanged. Errors describe the problem. They contain no part of the value except sslmode and the name of a
// parameter.
func Derive(part Part, value string) (string, error) {
	if part == PartEncoded {
		return encoded(value, "the value")
	}
	c, err := parseConnection(value)
	if err != nil {
		return "", err
	}
	return c.part(part)
}

func (c *connection) part(part Part) (string, error) {
	switch part { //nolint:exhaustive // PartEncoded is the whole value
	case PartHost:
		return usable(c.host, "the host")
	case PartHostPlain:
		if insistsOnTLS(c.sslMode) {
			return "", errTLS{c.sslMode}
		}
		return usable(c.host, "the host")
	case PartPort:
		return c.port, nil
	case PartDB:
		return usable(c.db, "the name of the database")
	case PartUser:
		return usable(c.user, "the user")
	case PartPassword:
		return usable(c.password, "the password")
	case PartPasswordEncoded:
		return encoded(c.password, "the password")
	case PartSSLMode:
		return c.sslMode, nil
	}
	return "", fmt.Errorf("%q is not a part of a connection string", part)
}

func usable(value, what string) (string, error) {
	if err := Usable(value); err != nil {
		return "", fmt.Errorf("%s %w", what, err)
	}
	return value, nil
}

// encoded returns the URL-encoded value. A space is encoded as %20, because a URL parser, not a form parser, reads the
// result. Both the value and the result must be usable.
func encoded(value, what string) (string, error) {
	if _, err := usable(value, what); err != nil {
		return "", err
	}
	return usable(strings.ReplaceAll(url.QueryEscape(value), "+", "%20"), what)
}

func insistsOnTLS(sslMode string) bool {
	return sslMode == "require" || sslMode == "verify-ca" || sslMode == "verify-full"
}

// connection is a parsed PostgreSQL connection string, with libpq's defaults.
type connection struct {
	host, port, db, user, password, sslMode string
}

const (
	defaultPostgresPort = "5432"
	defaultSSLMode      = "prefer"
)

// complete sets the defaults for missing parts, and checks the host, the user, the port and the sslmode.
func (c *connection) complete() error {
	if c.host == "" {
		return errors.New("the connection string has no host; add the host")
	}
	if c.user == "" {
		return errors.New("the connection string has no user; add the user")
	}
	if c.db == "" {
		c.db = c.user
	}
	if c.port == "" {
		c.port = defaultPostgresPort
	}
	if n, err := strconv.ParseUint(c.port, 10, 16); err != nil || n == 0 {
		return errors.New("the connection string has a port that is not between 1 and 65535; correct the port")
	}
	switch c.sslMode {
	case "":
		c.sslMode = defaultSSLMode
	case "disable", "allow", "prefer", "require", "verify-ca", "verify-full":
	default:
		return errors.New("the connection string has an sslmode that PostgreSQL does not support; " +
			"use disable, allow, prefer, require, verify-ca or verify-full")
	}
	return nil
}

// set sets one parameter of the connection string. name is libpq's name for the parameter.
func (c *connection) set(name, value string) error {
	switch name {
	case "host":
		c.host = value
	case "port":
		c.port = value
	case "dbname", "database":
		c.db = value
	case "user":
		c.user = value
	case "password":
		c.password = value
	case "sslmode":
		c.sslMode = value
	case "application_name", "connect_timeout", "keepalives", "keepalives_idle", "keepalives_interval", "keepalives_count":
		// The server sets its own value, so the parameter is not needed.
	default:
		return fmt.Errorf("the connection string has a parameter%s that the operator cannot pass to the server; remove the parameter", printable(name))
	}
	return nil
}

// parameters lists the parameters of libpq. Every other name can be a part of a password with a space or a question
// mark in it.
var parameters = []string{
	"application_name", "channel_binding", "client_encoding", "connect_timeout", "fallback_application_name",
	"gssdelegation", "gssencmode", "gsslib", "hostaddr", "keepalives", "keepalives_count", "keepalives_idle",
	"keepalives_interval", "krbsrvname", "load_balance_hosts", "max_protocol_version", "min_protocol_version",
	"options", "passfile", "replication", "require_auth", "requirepeer", "requiressl", "service",
	"servicefile", "ssl", "sslcert", "sslcertmode", "sslcompression", "sslcrl", "sslcrldir", "sslkey",
	"sslmode", "sslnegotiation", "sslpassword", "sslrootcert", "sslsni", "ssl_max_protocol_version",
	"ssl_min_protocol_version", "target_session_attrs", "tcp_user_timeout",
}

// printable returns the name of a parameter for a message. It does not return text that could be part of a credential.
func printable(name string) string {
	if !slices.Contains(parameters, name) {
		return ""
	}
	return " " + strconv.Quote(name)
}
