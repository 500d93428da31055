package retention

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// OffVolume lists the data in files that are not on a volume, or not with certainty, although the stack has a volume
// for its data. Every rollout deletes such data. The parameter mount is the path of the volume. Data with the same
// directory is one Loss. The losses are never Final.
func OffVolume(p *Places, mount string) []Loss {
	if !p.Known() {
		return nil
	}
	c := comparison{before: p, after: p, index: map[string]int{}}
	for _, what := range slices.Sorted(maps.Keys(p.Data)) {
		for _, place := range p.Data[what].In {
			c.offVolume(what, place, mount)
		}
	}
	return c.finish()
}

func (c *comparison) offVolume(what string, place Place, mount string) {
	file := c.after.fileOf(place)
	directory := file
	if place.Store != "" || path.Ext(file) == ".db" {
		directory = path.Dir(file)
	}
	switch {
	case file == "" || strings.ContainsAny(file[:1], ":{$") || strings.HasPrefix(file, "file:"):
	case c.after.inHome(place):
		first, _, _ := strings.Cut(file[len(inHome):], "/")
		c.lose(what, pathStorage, homeUnknown(inHome+first, mount), false)
	case strings.HasPrefix(file, inWorking):
		c.lose(what, c.field(what), inWorkingDirectory(strings.TrimPrefix(directory, inWorking), mount), false)
	case !c.after.location(file).durable():
		c.lose(what, pathStorage, offVolume(directory, mount, c.textOf(place)), false)
	}
}

// Deleted is the part of each message of OffVolume that states the effect.
const Deleted = "every rollout deletes this data"

func homeUnknown(directory, mount string) string {
	return fmt.Sprintf("the server stores the data of %s below %s, and the image determines the home directory: if the files "+
		"are not on the volume at %s, %s; run `echo ~` in the container, and set the variable HOME to the result in %s, so that "+
		"the operator can check this", whatMark, directory, mount, Deleted, pathEnv)
}

func inWorkingDirectory(directory, mount string) string {
	why := "this path is relative"
	if strings.HasPrefix(directory, "~") {
		why = "the server does not expand this ~"
	}
	return fmt.Sprintf("the server stores the data of %s in the directory %q of its working directory, because %s, and %s; "+
		"write a path below %s", whatMark, directory, why, Deleted, mount)
}

func offVolume(directory, mount, text string) string {
	remedy := "write a path below " + mount
	if variable := variableIn(text); variable != "" {
		remedy = fmt.Sprintf("set the variable %s to a path below %s in %s", variable, mount, pathEnv)
	}
	return fmt.Sprintf("the server stores the data of %s in %s, which is not on the volume at %s, and %s; %s; to keep existing data, "+
		"copy it to the new directory before the next rollout", whatMark, directory, mount, Deleted, remedy)
}
