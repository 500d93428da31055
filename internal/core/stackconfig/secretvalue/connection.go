package secretvalue

import (
	"errors"
	"maps"
	"net/url"
	"slices"
	"strings"
)

var (
	errConnection = errors.New("the value is not a PostgreSQL connection string; write postgresql://user:password@host:port/database")
	errEscape     = errors.New("the connection string is invalid; percent-encode the characters @ / : # ? % [ ] in its user and password, for example @ as %40")
	errHosts      = errors.New("the connection string has several hosts, but the server supports only one; keep one host")
)

// parseConnection parses a URL or libpq's keyword form.
func parseConnection(value string) (connection, error) {
	if strings.TrimSpace(value) == "" {
		return connection{}, errors.New("is empty; set a value")
	}
	if strings.TrimRight(value, "\r\n") != value {
		return connection{}, errLineBreak
	}
	var c connection
	var err error
	if scheme, _, isURL := strings.Cut(value, "://"); isURL && !strings.ContainsAny(scheme, "= '") {
		err = c.parseURL(scheme, value)
	} else {
		err = c.parseKeywords(value)
	}
	if err != nil {
		return connection{}, err
	}
	return c, c.complete()
}

// parseURL parses a URL. It never returns an error from the URL parser, because such an error contains the URL.
func (c *connection) parseURL(scheme, value string) error {
	name, _, _ := strings.Cut(scheme, "+")
	if name != "postgresql" && name != "postgres" {
		return errConnection
	}
	if authority, _, _ := strings.Cut(value[len(scheme)+len("://"):], "/"); strings.Contains(authority[strings.LastIndex(authority, "@")+1:], ",") {
		return errHosts
	}
	if unescaped(value[len(scheme)+len("://"):]) {
		return errEscape
	}
	u, err := url.Parse(value)
	if err != nil || u.Fragment != "" || u.Opaque != "" {
		return errEscape
	}
	c.host, c.port, c.db = u.Hostname(), u.Port(), strings.TrimPrefix(u.Path, "/")
	if u.User != nil {
		c.user = u.User.Username()
		c.password, _ = u.User.Password()
	}
	return c.setQuery(u.RawQuery)
}

// unescaped reports whether the user or the password of a URL contains an @ / ? or # as it is. The parts of the URL
// then begin in the wrong place. The query may contain an @ in the value of a parameter.
func unescaped(rest string) bool {
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	path, query, _ := strings.Cut(rest[end:], "?")
	before, _, at := strings.Cut(query, "@")
	return strings.Count(rest[:end], "@") > 1 || strings.Contains(path, "@") || at && !strings.Contains(before, "=")
}

func (c *connection) setQuery(text string) error {
	query, err := url.ParseQuery(text)
	if err != nil {
		return errEscape
	}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if err := c.set(name, query.Get(name)); err != nil {
			return err
		}
	}
	return nil
}

// parseKeywords parses name=value pairs. A value can be in single quotes. A backslash escapes the next character, with
// or without quotes.
func (c *connection) parseKeywords(value string) error {
	rest := strings.TrimSpace(value)
	for rest != "" {
		name, after, found := strings.Cut(rest, "=")
		name = strings.TrimSpace(name)
		if !found || name == "" || strings.ContainsAny(name, " '\\") {
			return errConnection
		}
		text, remaining, err := keywordValue(strings.TrimLeft(after, " "))
		if err != nil {
			return err
		}
		if err := c.set(name, text); err != nil {
			return err
		}
		rest = strings.TrimLeft(remaining, " ")
	}
	if strings.Contains(c.host, ",") {
		return errHosts
	}
	return nil
}

// keywordValue returns the value at the beginning of a string, and the rest of the string.
func keywordValue(text string) (value, rest string, err error) {
	quoted := strings.HasPrefix(text, "'")
	if quoted {
		text = text[1:]
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text):
			i++
			b.WriteByte(text[i])
		case quoted && c == '\'':
			return b.String(), text[i+1:], nil
		case !quoted && c == ' ':
			return b.String(), text[i:], nil
		default:
			b.WriteByte(c)
		}
	}
	if quoted {
		return "", "", errors.New("the connection string has a quote that is not closed; close the quote")
	}
	return b.String(), "", nil
}
