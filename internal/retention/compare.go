package retention

import (
	"maps"
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/release"
)

// Loss is data that a change leaves behind.
type Loss struct {
	// What names the data, sorted: "registry", "conversations", "vector_io/faiss".
	What []string `json:"what"`
	// Path is the field of the spec that a user most likely changed.
	Path string `json:"path"`
	// Message says what becomes of the data, and how to take it along or bring it back.
	Message string `json:"message"`
	// Final says that nothing brings it back, so that the roll-out waits.
	Final bool `json:"final,omitempty"`
}

// String is the message behind its path.
func (l Loss) String() string { return l.Path + ": " + l.Message }

// Compare lists which data of what runs a change leaves behind, data of one cause in
// one Loss, in the order of the first of it. It lists nothing where one of both is not
// known.
func Compare(before, after *Places) []Loss {
	if !before.Known() || !after.Known() {
		return nil
	}
	c := comparison{before: before, after: after, index: map[string]int{}}
	if before.Unread || after.Unread {
		c.volumes()
		return c.finish()
	}
	for _, what := range slices.Sorted(maps.Keys(before.Data)) {
		c.data(what)
	}
	return c.finish()
}

type comparison struct {
	before, after *Places
	losses        []Loss
	index         map[string]int
}

// whatMark stands for the names of the data in a message.
const whatMark = "{what}"

// lose notes data that stays behind. What has one path and one message is one Loss.
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

// maxNamed bounds how many kinds of data a message names.
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

// volumes compares what is known without the configuration.
func (c *comparison) volumes() {
	for _, volume := range c.before.Volumes {
		if strings.HasPrefix(volume.Source, claimPrefix) && !c.after.mounted(volume.Source) {
			c.lose("storage", pathStorage, unmountedUnread(volume.Source), false)
		}
	}
}

// data compares one kind of data.
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
			c.lose(what, c.field(what), changedType(was, is), false)
		}
		return
	}
	moved := false
	for _, place := range was.In {
		if !slices.ContainsFunc(is.In, func(other Place) bool { return c.same(what, place, other) }) {
			c.moved(what, place, is)
			moved = true
		}
	}
	if !moved && c.anyDurable(was) {
		c.stays(what, was, is)
	}
}

// stays compares data that stays where it is.
func (c *comparison) stays(what string, was, is Data) {
	if was.Form != "" && is.Form == "" {
		c.lose(what, pathDistribution, c.unreadable(what), true)
		return
	}
	if c.crosses() && c.unprefixed(was, is) {
		c.lose(what, pathDistribution, c.hiddenKeys(), false)
	}
	if what == Files && is.Type == localFiles {
		c.recorded(was)
	}
}

// unprefixed reports whether keys have the prefix of their namespace and are looked for
// without it.
func (c *comparison) unprefixed(was, is Data) bool {
	apart := func(p *Places, data Data) bool {
		return slices.ContainsFunc(data.In, func(place Place) bool {
			store := p.Stores[place.Store]
			return store.Type == kvSQLite && store.Apart
		})
	}
	filed := slices.ContainsFunc(is.In, func(place Place) bool { return c.after.Stores[place.Store].Type == kvSQLite })
	return apart(c.before, was) && filed && !apart(c.after, is)
}

// localFiles is the type that records where each uploaded file is, by its absolute
// path.
const localFiles = "inline::localfs"

// recorded compares where uploaded files were with what that path leads to now.
func (c *comparison) recorded(was Data) {
	for _, place := range was.In {
		if place.File == "" {
			continue
		}
		if old := c.before.location(place.File); old.durable() && c.after.location(place.File) != old {
			c.lose(Files, pathMount, c.recordedPaths(place.File), false)
		}
	}
}

// gone is data whose provider or store is not there any more. What a release takes
// away is told by the engine.
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
		c.lose(what, c.droppedField(what), dropped(place), false)
	case !slices.ContainsFunc(slices.Sorted(maps.Keys(c.after.Data)), isVector):
		field := pathDisabled
		if c.after.Override {
			field = pathOverride
		}
		c.lose(what, field, notServed(place), false)
	default:
		id := strings.TrimPrefix(what, vectorIO+"/")
		c.lose(what, c.field(what), lostProvider(id, c.renamed(was), place), false)
	}
}

// has reports whether the release could keep such data; any could that is not known.
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

// renamed is the id of a new vector provider that keeps its data in a place of one
// that is gone; empty without one.
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

// anyDurable reports whether any of the data outlives the pods of before. A provider
// that says nothing of its place may keep it anywhere.
func (c *comparison) anyDurable(data Data) bool {
	return len(data.In) == 0 || slices.ContainsFunc(data.In, func(place Place) bool { return c.before.durable(place) })
}
