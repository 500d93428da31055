package retention

import (
	"fmt"
	"path"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/envref"
)

// Remedies for data whose store cannot be copied.
const (
	throughAPI = "to take it along, read it through the API before the change and create it again after it"
	goBack     = "write the earlier value back to bring it back"
)

// kinds maps the types of stores to words.
var kinds = map[string]string{
	"sqlite": "the SQLite file", "redis": "Redis at", "postgres": "PostgreSQL at", "mongodb": "MongoDB at",
}

// describe returns a description of a place.
func (c *comparison) describe(p *Places, place Place) string {
	text := place.File
	if text == "" {
		text = place.At
	}
	if place.Store != "" {
		store := p.Stores[place.Store]
		_, kind, _ := strings.Cut(store.Type, "_")
		text = kinds[kind] + " " + store.At
		if inner, found := strings.CutPrefix(store.At, "{Secret "); found {
			text = strings.TrimSuffix(kinds[kind], " at") + " of the Secret " + strings.TrimSuffix(inner, "}")
		}
	}
	if file := p.fileOf(place); file != "" {
		if where := p.location(file); where.durable() {
			text += " on " + where.source
		} else {
			text += " in the pod"
		}
	}
	return text
}

// elsewhere returns the message about data whose store has changed.
func elsewhere(from, to, tool string) string {
	carry := throughAPI
	if tool != "" {
		carry = "to take it along, scale the stack to zero and copy the database before the change (" + tool + ")"
	}
	message := fmt.Sprintf("the data of %s stays in %s, and %s starts without it; %s; %s", whatMark, from, to, carry, goBack)
	if strings.Contains(from+to, "{Secret ") {
		message += "; if both lead to the same database, nothing is left behind"
	}
	return message
}

// copyTool returns the tool that copies a store to another one of the same type, or an empty string if there is none.
func copyTool(from, to string) string {
	switch {
	case from != to:
		return ""
	case strings.HasSuffix(from, "_postgres"):
		return "pg_dump and pg_restore"
	case strings.HasSuffix(from, "_redis"):
		return "redis-cli --rdb"
	default:
		return ""
	}
}

func otherFamily(from, to string) string {
	return fmt.Sprintf("the data of %s is kept in another kind of store by this release, %s, and what there is stays in %s; "+
		"%s; the earlier release finds it again", whatMark, to, from, throughAPI)
}

func otherTable(table string, now Store) string {
	remedy := fmt.Sprintf("set table_name of the store to %q in the configuration", table)
	if variable := variableIn(now.Text); variable != "" {
		remedy = fmt.Sprintf("set the variable %s to %q in spec.workload.overrides.env", variable, table)
	}
	return fmt.Sprintf("the data of %s lies in the table %q, and the server reads the table %q; %s to keep it", whatMark, table, now.Table, remedy)
}

func otherSpace(was, is, at string) string {
	return fmt.Sprintf("the data of %s lies under %q in %s, and the server reads %q; %s", whatMark, was, at, is, goBack)
}

func volatile() string {
	return fmt.Sprintf("the data of %s is in the pod's own file system and goes with it, as at every roll-out without a volume; %s",
		whatMark, throughAPI)
}

func dropped(from string) string {
	return fmt.Sprintf("the data of %s stays in %s, and nothing in the configuration reads it any more; configure it again to bring it back", whatMark, from)
}

func unmountedUnread(source string) string {
	return fmt.Sprintf("what the server keeps on %s stays there, and no pod mounts it any more; set spec.workload.storage again to bring it back", source)
}

func unmounted(source, to string, durable bool) string {
	message := fmt.Sprintf("the data of %s stays on %s, which no pod mounts any more", whatMark, source)
	if durable {
		return message + fmt.Sprintf("; %s starts without it; copy it there before, or mount the earlier volume again to bring it back", to)
	}
	return message + "; what clients store from now on goes with the pod; set spec.workload.storage again to bring it back"
}

// displacement is data on a volume that the server looks for elsewhere.
type displacement struct {
	// from is where the data is. now is where the server looks for it. durable reports whether now is on a volume.
	from    location
	now     string
	durable bool
	// remedy makes the server find the data again, if a remedy is known. mount is where the volume was mounted.
	remedy, mount string
}

func displaced(d displacement) string {
	message := fmt.Sprintf("the data of %s stays in the directory %s of %s, and the server looks into %s",
		whatMark, path.Dir(d.from.path), d.from.source, d.now)
	if !d.durable {
		message += ", which is not on a volume: what clients store there goes with the pod"
	}
	if d.remedy != "" {
		return message + "; " + d.remedy + " to keep it"
	}
	return message + fmt.Sprintf("; mount the volume at %s, or move the files, to keep it", d.mount)
}

// otherFiles returns the message about a release that stores the same data in other files.
func (c *comparison) otherFiles(from location) string {
	return fmt.Sprintf("the data of %s stays in the files of release %s, and release %s reads others beside them, in the directory %s of %s; "+
		"%s; release %s finds it again", whatMark, c.before.Release, c.after.Release, path.Dir(from.path), from.source, throughAPI, c.before.Release)
}

func otherFile(from, to location) string {
	return fmt.Sprintf("the data of %s stays in the file %s of %s, and the server reads %s; %s", whatMark, from.path, from.source, to.path, goBack)
}

// setVariable returns how to change a path to the target with a variable, or an empty string if no variable does.
func setVariable(text, target string) string {
	reference, found := envref.Server.First(text)
	rest, begins := strings.CutPrefix(text, reference.String())
	value, ends := strings.CutSuffix(target, rest)
	if !found || !begins || !ends || value == "" {
		return ""
	}
	return fmt.Sprintf("set the variable %s to %s in spec.workload.overrides.env", reference.Name, value)
}

func changedType(was, is Data) string {
	return fmt.Sprintf("the provider of %s is of type %s instead of %s: it does not find the content of its vector stores; "+
		"give the new provider an id of its own beside the other one, or delete the vector stores before; %s",
		whatMark, is.Type, was.Type, goBack)
}

// lostProvider returns the message about a vector provider that was removed or has another id.
func lostProvider(id, renamed, from string) string {
	if renamed != "" {
		return fmt.Sprintf("the vector provider %q is now called %q: vector stores keep the id of their provider, and those of %q answer errors, "+
			"to their deletion too; keep the id, or delete those vector stores before and make them again under the new one; "+
			"the earlier id brings them back", id, renamed, id)
	}
	return fmt.Sprintf("the vector provider %q is gone: its vector stores answer errors, to their deletion too, and their content stays in %s; "+
		"delete them before, or configure the provider again to bring them back", id, from)
}

func notServed(from string) string {
	return fmt.Sprintf("the server serves no vector stores any more: the content of %s stays in %s; "+
		"take the API out of spec.disabled, or configure its providers again, to bring it back", whatMark, from)
}

// hiddenKeys returns the message about a release that reads keys without their namespace.
func (c *comparison) hiddenKeys() string {
	return fmt.Sprintf("release %s keeps the data of %s under keys that begin with their namespace, and release %s looks for them without it: "+
		"what clients stored since the upgrade is not found; release %s finds it again; %s",
		c.before.Release, whatMark, c.after.Release, c.before.Release, throughAPI)
}

// unreadable returns the message about content that prevents a release from starting.
func (c *comparison) unreadable(what string) string {
	return fmt.Sprintf("release %s does not start on what %s keeps under release %s, and nothing converts it: "+
		"stay on %s, or delete the vector stores of that provider through the API (DELETE /v1/vector_stores/ID) and create them again after the change; "+
		"then accept that what is left is lost with the annotation %s: %q",
		c.after.Release, what, c.before.Release, c.before.Release, Annotation, what)
}

func (c *comparison) recordedPaths(directory string) string {
	return fmt.Sprintf("the server keeps the whole path of each uploaded file, below %s, and the volume moves away from there: "+
		"the content of files that were uploaded before is not found; set the path back, or mount the volume there too "+
		"(spec.workload.overrides.volumeMounts: name %s, mountPath %s) to keep it", directory, volumeName, c.oldMount(directory))
}

// oldMount returns where the volume of a directory was mounted.
func (c *comparison) oldMount(directory string) string {
	return c.before.mountOf(c.before.location(directory).source)
}
