package retention

import (
	"regexp"
	"strings"
)

const (
	kvSQLite    = "kv_sqlite"
	kvPostgres  = "kv_postgres"
	claimPrefix = "PersistentVolumeClaim "
)

// fileOf returns the file or directory of a place, or an empty string if the place is a server.
func (p *Places) fileOf(place Place) string {
	if place.Store == "" {
		return place.File
	}
	if store := p.Stores[place.Store]; strings.HasSuffix(store.Type, "_sqlite") {
		return store.At
	}
	return ""
}

// inHome reports whether a place is in a home directory that is unknown.
func (p *Places) inHome(place Place) bool { return strings.HasPrefix(p.fileOf(place), inHome) }

// durable reports whether a place outlives the pod.
func (p *Places) durable(place Place) bool {
	file := p.fileOf(place)
	return file == "" || p.location(file).durable()
}

// same reports whether a place before the change (was) and a place after the change (is) are the same.
func (c *comparison) same(what string, was, is Place) bool {
	if (was.Store == "") != (is.Store == "") {
		return false
	}
	if was.Store == "" {
		return c.sameFile(was.File, is.File) && sameText(was.At, is.At)
	}
	old, now := c.before.Stores[was.Store], c.after.Stores[is.Store]
	if old.Type != now.Type || !c.sameSpace(what, was, is) {
		return false
	}
	if file := c.before.fileOf(was); file != "" {
		return c.sameFile(file, c.after.fileOf(is))
	}
	return sameText(old.At, now.At) && sameText(old.Table, now.Table)
}

// sameSpace compares namespaces and tables. Namespaces that are not separate count as the same. If they become
// separate, the pod copies the data when it starts.
func (c *comparison) sameSpace(what string, was, is Place) bool {
	old, now := c.before.Stores[was.Store], c.after.Stores[is.Store]
	if strings.HasPrefix(old.Type, "kv") && (!old.Apart || !now.Apart) {
		return true
	}
	if what == Registry {
		return sameRegistry(was.Space, is.Space)
	}
	return sameText(was.Space, is.Space)
}

// sameFile compares files by their locations.
func (c *comparison) sameFile(was, is string) bool {
	if (was == "") != (is == "") {
		return false
	}
	return c.before.location(was) == c.after.location(is)
}

// sameText compares strings. An unknown string is equal to any other string.
func sameText(was, is string) bool {
	return was == is || strings.Contains(was, Hidden) || strings.Contains(is, Hidden)
}

// ownSpace matches the part of a namespace that distinguishes the registries of different stacks.
var ownSpace = regexp.MustCompile(`(/[a-z0-9.-]+){2}$`)

// sameRegistry reports whether the registry in one namespace contains or adopts the entries of the other namespace. If
// no part of a namespace matches ownSpace, a stack can adopt the entries of this namespace. A stack never adopts the
// registry of another stack (LLS_REGISTRY).
func sameRegistry(was, is string) bool {
	if ownSpace.MatchString(was) && ownSpace.MatchString(is) {
		return was == is
	}
	return ownSpace.ReplaceAllString(was, "") == ownSpace.ReplaceAllString(is, "")
}
