package retention

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

// Loss is data that a change leaves behind.
type Loss struct {
	// What lists the names of the data, sorted, such as "conversations", "registry" and "vector_io/faiss".
	What []string `json:"what"`
	// Path is the field of the spec that the user most likely changed.
	Path string `json:"path"`
	// Message explains the effect on the data, and how to keep or recover the data.
	Message string `json:"message"`
	// Final reports whether the data cannot be recovered. The rollout then waits for the user.
	Final bool `json:"final,omitempty"`
}

// String returns the path and the message.
func (l Loss) String() string { return l.Path + ": " + l.Message }

// Compare lists the data of the running stack that a change leaves behind. Data with the same cause is one Loss. The
// losses are in the order in which Compare finds them. If before or after is unknown, Compare returns nil. If only a
// configuration is unknown (Unread), it compares only the volumes.
func Compare(before, after *Places) []Loss {
	if !before.Known() || !after.Known() {
		return nil
	}
	c := comparison{before: before, after: after, index: map[string]int{}}
	if before.Unread || after.Unread {
		for _, volume := range before.Volumes {
			if strings.HasPrefix(volume.Source, claimPrefix) && !after.mounted(volume.Source) {
				c.lose("storage", pathStorage, fmt.Sprintf(unmountedUnread, volume.Source), false)
			}
		}
		return c.finish()
	}
	for _, what := range slices.Sorted(maps.Keys(before.Data)) {
		c.data(what)
	}
	c.models()
	return c.finish()
}

type comparison struct {
	before, after *Places
	losses        []Loss
	index         map[string]int
	// selections are the rules after the change. They are set when they are first needed.
	selections []selection
}

// whatMark is the placeholder for the names of the data in a message.
const whatMark = "{what}"

// lose records the loss of data. Data with the same path and message is one Loss.
func (c *comparison) lose(what, path, message string, final bool) {
	key := path + "\n" + message
	i, known := c.index[key]
	if !known {
		i = len(c.losses)
		c.index[key] = i
		c.losses = append(c.losses, Loss{Path: path, Message: message, Final: final})
	}
	if !slices.Contains(c.losses[i].What, what) {
		c.losses[i].What = append(c.losses[i].What, what)
	}
}

// maxNamed bounds the number of kinds of data in a message.
const maxNamed = 12

func (c *comparison) finish() []Loss {
	for i := range c.losses {
		loss := &c.losses[i]
		slices.Sort(loss.What)
		named := loss.What
		if len(named) > maxNamed {
			named = append(slices.Clone(named[:maxNamed]), "…")
		}
		loss.Message = strings.ReplaceAll(loss.Message, whatMark, strings.Join(named, ", "))
	}
	return c.losses
}

// data compares the places where one kind of data is stored.
func (c *comparison) data(what string) {
	was := c.before.Data[what]
	is, there := c.after.Data[what]
	switch {
	case !there && c.after.More > 0:
		return
	case !there:
		c.gone(what, was)
		return
	case isVector(what) && was.Type != is.Type:
		if c.anyDurable(was) {
			c.lose(what, c.field(what), fmt.Sprintf(changedType, is.Type, was.Type), false)
		}
		return
	}
	moved := false
	for _, place := range was.In {
		i := slices.IndexFunc(is.In, func(other Place) bool { return c.same(what, place, other) })
		switch {
		case i < 0 && c.replaced(was, is) && c.before.durable(place):
			c.lose(what, c.field(what), fmt.Sprintf(replacedProvider, is.Provider, was.Provider), false)
			moved = true
		case i < 0:
			c.moved(what, place, is)
			moved = true
		case c.before.inHome(place) != c.after.inHome(is.In[i]):
			from, to := c.describeFiles(place, is.In[i])
			c.lose(what, c.homeField(), fmt.Sprintf(perhapsMoved, from, to), false)
		}
	}
	if !moved && c.anyDurable(was) {
		c.stays(what, was, is)
	}
}

// replaced reports whether a different provider serves an API for which the server uses only one provider. Between
// releases, the base configuration can contain a provider with a different ID for the same data.
func (c *comparison) replaced(was, is Data) bool {
	return was.Provider != "" && is.Provider != "" && was.Provider != is.Provider && !c.crosses()
}

// stays checks data whose place does not change.
func (c *comparison) stays(what string, was, is Data) {
	if was.Form != "" && is.Form == "" {
		c.lose(what, pathDistribution, c.unreadable(what), true)
		return
	}
	reads := prefixed(c.after, is)
	if c.crosses() && c.inFiles(is) && reads != prefixed(c.before, was) && (!reads || !c.after.Adopts) {
		c.lose(what, pathDistribution, c.hiddenKeys(reads), reads)
	}
	if what == Files && is.Type == localFiles {
		c.recorded(was)
	}
}

// prefixed reports whether the keys of data in SQLite have the namespace of their store as a prefix.
func prefixed(p *Places, data Data) bool {
	return slices.ContainsFunc(data.In, func(place Place) bool {
		store := p.Stores[place.Store]
		return store.Type == kvSQLite && store.Apart
	})
}

// inFiles reports whether a key-value store in SQLite holds data after the change.
func (c *comparison) inFiles(is Data) bool {
	return slices.ContainsFunc(is.In, func(place Place) bool { return c.after.Stores[place.Store].Type == kvSQLite })
}

// localFiles is the type of the provider that stores the absolute path of each uploaded file.
const localFiles = "inline::localfs"

// recorded checks whether the stored paths of uploaded files still refer to the same files.
func (c *comparison) recorded(was Data) {
	for _, place := range was.In {
		if place.File == "" {
			continue
		}
		if old := c.before.location(place.File); old.durable() && c.after.location(place.File) != old {
			c.lose(Files, pathMount, fmt.Sprintf(recordedPaths, place.File, c.before.mountOf(old.source)), false)
		}
	}
}

// gone handles data whose provider or store no longer exists. It records no loss if the data does not outlive the pods.
// It also records no loss if the new release does not support this kind of data, because package stackconfig reports
// this case.
func (c *comparison) gone(what string, was Data) {
	if !c.anyDurable(was) || !c.has(what) {
		return
	}
	place := "its place"
	if len(was.In) > 0 {
		place = c.describe(c.before, was.In[0])
	}
	switch {
	case !isVector(what):
		c.lose(what, c.droppedField(what), fmt.Sprintf(dropped, place), false)
	case !slices.ContainsFunc(slices.Sorted(maps.Keys(c.after.Data)), isVector):
		field := pathDisabled
		if c.after.Override {
			field = pathOverride
		}
		c.lose(what, field, fmt.Sprintf(notServed, place), false)
	default:
		id := strings.TrimPrefix(what, vectorIO+"/")
		c.lose(what, c.field(what), lostProvider(id, c.renamed(was), place), false)
	}
}

// has reports whether the release after the change can store this kind of data. It returns true for an unknown release.
func (c *comparison) has(what string) bool {
	found, err := release.Lookup(c.after.Release)
	if err != nil {
		return true
	}
	name, _, _ := strings.Cut(what, "/")
	if _, ok := found.Release.API(name); ok || name == Registry {
		return true
	}
	_, ok := found.Release.Storage.Store(name)
	return ok
}

// renamed returns the ID of a new vector provider of the same type, which probably replaces the removed provider. It
// returns an empty string if there is no such provider.
func (c *comparison) renamed(was Data) string {
	for _, what := range slices.Sorted(maps.Keys(c.after.Data)) {
		is := c.after.Data[what]
		if _, old := c.before.Data[what]; old || !isVector(what) || is.Type != was.Type {
			continue
		}
		return strings.TrimPrefix(what, vectorIO+"/")
	}
	return ""
}

func isVector(what string) bool { return strings.HasPrefix(what, vectorIO+"/") }

// anyDurable reports whether at least a part of the data outlives the previous pods. An unknown place counts as
// durable.
func (c *comparison) anyDurable(data Data) bool {
	return len(data.In) == 0 || slices.ContainsFunc(data.In, func(place Place) bool { return c.before.durable(place) })
}
