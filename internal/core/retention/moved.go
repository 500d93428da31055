package retention

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// These are the fields that the user most likely changed.
const (
	pathStorage      = "spec.workload.storage"
	pathMount        = "spec.workload.storage.mountPath"
	pathDistribution = "spec.distribution"
	pathDisabled     = "spec.disabled"
	pathOverride     = "spec.overrideConfig"
	pathEnv          = "spec.workload.overrides.env"
)

// field returns the field that determines where data is stored.
func (c *comparison) field(what string) string {
	if c.after.Override {
		return pathOverride
	}
	api, _, _ := strings.Cut(what, "/")
	switch api {
	case vectorIO:
		return "spec.providers.vectorIo"
	case Files, "batches", "responses":
		return "spec.providers." + api
	default: // only the base determines the place of all other data
		return pathDistribution
	}
}

// storeField returns the field that determines the place of a store. If the release changes, this field is
// spec.distribution, unless the configuration is the user's own file.
func (c *comparison) storeField(store Store) string {
	if c.crosses() && !c.after.Override {
		return pathDistribution
	}
	return c.ownField(store)
}

// ownField returns the field that determines the place of a store if the release does not change.
func (c *comparison) ownField(store Store) string {
	if c.after.Override {
		return pathOverride
	}
	family, _, _ := strings.Cut(store.Type, "_")
	return "spec.storage." + family
}

// crosses reports whether the release has changed. It returns false if either release is unknown.
func (c *comparison) crosses() bool {
	return c.before.Release != "" && c.after.Release != "" && c.before.Release != c.after.Release
}

// homeField returns the field whose change made the server use a path that is not in the home directory.
func (c *comparison) homeField() string {
	if c.crosses() {
		return pathDistribution
	}
	return pathStorage
}

// moved handles data that the server looks for in another place.
func (c *comparison) moved(what string, was Place, is Data) {
	now := c.counterpart(was, is)
	switch durable := c.before.durable(was); {
	case !durable && (now == nil || !c.after.durable(*now)):
		return // the data is lost with the pod, before and after the change
	case !durable:
		field := c.placeField(what, was, *now)
		if c.after.fileOf(*now) != "" {
			field = pathStorage
		}
		c.lose(what, field, volatile, false)
	case now == nil:
		c.lose(what, c.droppedField(what), fmt.Sprintf(dropped, c.describe(c.before, was)), false)
	case c.otherFamily(was, *now):
		c.lose(what, c.placeField(what, was, *now),
			fmt.Sprintf(otherFamily, c.describe(c.after, *now), c.describe(c.before, was)), false)
	case c.before.fileOf(was) != "" && c.after.fileOf(*now) != "" &&
		!c.sameFile(c.before.fileOf(was), c.after.fileOf(*now)):
		c.movedFile(what, was, *now)
	default:
		c.movedStore(what, was, *now)
	}
}

// droppedField returns the field whose change removed data from the configuration.
func (c *comparison) droppedField(what string) string {
	if c.crosses() && !c.after.Override {
		return pathDistribution
	}
	return c.field(what)
}

// spaceField returns the field that determines the namespace or table of data. If the change selects the registry of
// another stack, the result is the field with the variable LLS_REGISTRY.
func (c *comparison) spaceField(what string, was, now Place) string {
	old, is := ownSpace.FindString(was.Space), ownSpace.FindString(now.Space)
	if what == Registry && old != "" && is != "" && old != is && !c.after.Override {
		return pathEnv
	}
	return c.droppedField(what)
}

// otherFamily reports whether data of a key-value store is now stored in an SQL store, or the reverse. It returns false
// for data in a file whose store does not exist after the change. In releases up to 0.2, each store has a separate
// file, regardless of its family (server fact 50, server fact 51).
func (c *comparison) otherFamily(was, now Place) bool {
	_, kept := c.after.Stores[was.Store]
	return was.Store != "" && now.Store != "" && c.before.family(was) != c.after.family(now) && (kept || c.before.fileOf(was) == "")
}

// family returns the family of a place's store: kv, sql, or empty.
func (p *Places) family(place Place) string {
	family, _, _ := strings.Cut(p.Stores[place.Store].Type, "_")
	return family
}

// counterpart returns the place after the change that replaces a place before the change, or nil if there is none.
func (c *comparison) counterpart(was Place, is Data) *Place {
	best := -1
	for i, place := range is.In {
		alike := c.after.family(place) == c.before.family(was)
		switch {
		case place.Space == was.Space && alike:
			return &is.In[i]
		case (place.Store == "") == (was.Store == "") && (best < 0 || alike):
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	return &is.In[best]
}

// placeField returns the field whose change moved data from the place `was` to the place `now`.
func (c *comparison) placeField(what string, was, now Place) string {
	switch {
	case now.Store != "":
		return c.storeField(c.after.Stores[now.Store])
	case c.crosses() && !c.after.Override && was.File != "":
		return pathDistribution
	default:
		return c.field(what)
	}
}

// movedStore handles data that the server looks for in another store, or in another part of the same store.
func (c *comparison) movedStore(what string, was, now Place) {
	old, is := c.before.Stores[was.Store], c.after.Stores[now.Store]
	field := c.placeField(what, was, now)
	from, to := c.describe(c.before, was), c.describe(c.after, now)
	switch {
	case was.Store == "" || now.Store == "":
		c.lose(what, field, elsewhere(from, to, ""), false)
	case old.Type == is.Type && sameText(old.At, is.At) && old.Table != is.Table:
		c.lose(what, field, otherTable(old.Table, is), false)
	case old.Type == is.Type && sameText(old.At, is.At):
		c.lose(what, c.spaceField(what, was, now), fmt.Sprintf(otherSpace, was.Space, from, now.Space), false)
	default: // a change to the release never changes the address of a store
		c.lose(what, c.ownField(is), elsewhere(from, to, copyTool(old.Type, is.Type)), false)
	}
}

// movedFile handles data in a file if the server looks for the data in another file.
func (c *comparison) movedFile(what string, was, now Place) {
	from, to := c.before.location(c.before.fileOf(was)), c.after.location(c.after.fileOf(now))
	mount := c.after.mountOf(from.source)
	beside := from.source == to.source && path.Dir(from.path) == path.Dir(to.path)
	switch {
	case mount == "":
		c.lose(what, pathStorage, unmounted(from.source, c.describe(c.after, now), to.durable()), false)
	case beside && c.crosses():
		c.lose(what, c.placeField(what, was, now), fmt.Sprintf(otherFiles,
			c.before.Release, c.after.Release, path.Dir(from.path), from.source), false)
	case beside:
		c.lose(what, c.placeField(what, was, now), fmt.Sprintf(otherFile, from.path, from.source, to.path), false)
	default:
		field := c.placeField(what, was, now)
		if mount != c.before.mountOf(from.source) && !c.crosses() {
			field = pathMount
		}
		target := path.Join(mount, from.path)
		remedy := setVariable(c.textOf(now), target)
		if remedy == "" && mount == c.before.mountOf(from.source) {
			remedy = "set the path to " + target + " again"
		}
		c.lose(what, field, displaced(displacement{
			from: from, now: path.Dir(c.after.fileOf(now)), durable: to.durable(), remedy: remedy,
			mount: c.before.mountOf(from.source),
		}), false)
	}
}

// textOf returns the text from which a place was resolved, as written in the configuration.
func (c *comparison) textOf(place Place) string {
	if place.Store != "" {
		return c.after.Stores[place.Store].Text
	}
	return place.Text
}

// mountOf returns the path at which a volume is mounted, or an empty string if it is not mounted.
func (p *Places) mountOf(source string) string {
	i := slices.IndexFunc(p.Volumes, func(v Volume) bool { return v.Source == source })
	if i < 0 {
		return ""
	}
	return p.Volumes[i].Mount
}
