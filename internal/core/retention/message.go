package retention

import (
	"fmt"
	"path"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/envref"
)

// These are remedies that several messages contain.
const (
	throughAPI = "to keep the data, read it through the API before the change and create it again afterwards"
	goBack     = "to recover the data, set the previous value again"
)

// These are the formats of messages without conditions.
const (
	otherFamily = "this release stores the data of " + whatMark + " in a different kind of store, %s, and the existing " +
		"data stays in %s; " + throughAPI + "; to recover the existing data, return to the previous release"
	otherSpace = "the data of " + whatMark + " is in the namespace or table %q of %s, but the server reads the " +
		"namespace or table %q; " + goBack
	volatile = "the data of " + whatMark + " is in the pod's own file system, not on a volume, so every rollout deletes " +
		"the data; " + throughAPI
	// perhapsMoved is about data that is in the same place only if the home directory is as expected.
	perhapsMoved = "the data of " + whatMark + " is in %s, and the server looks for the data in %s; whether both are " +
		"the same is not known, because the image determines the home directory: before the change, run `echo ~` in the " +
		"container; if the directories differ, copy the files to the volume, because the change deletes the data in the " +
		"pod's own file system"
	dropped = "the data of " + whatMark + " stays in %s, but the configuration no longer uses this location; to recover " +
		"the data, restore the previous configuration"
	unmountedUnread = "the server's data stays on %s, which no pod mounts any longer; to recover the data, set " +
		"spec.workload.storage again"
	// otherFiles is about a release that stores the same data in different files.
	otherFiles = "the data of " + whatMark + " stays in the files of release %[1]s, but release %[2]s reads different " +
		"files in the same directory, %[3]s on %[4]s; " + throughAPI + "; to recover this data, return to release %[1]s"
	otherFile   = "the data of " + whatMark + " stays in the file %s on %s, but the server reads %s; " + goBack
	changedType = "the provider of " + whatMark + " has type %s instead of %s, so it cannot find the content of its " +
		"vector stores; add the new provider with a different ID and keep the old one, or delete the vector stores before " +
		"the change; " + goBack
	// replacedProvider is about data of a provider that no longer serves its API.
	replacedProvider = "the server uses only one provider for this API, %[1]q instead of %[2]q, and does not find the " +
		"earlier data of " + whatMark + "; to keep the data, remove the provider %[1]q, or give it the type and the " +
		"settings of %[2]q"
	recordedPaths = "the server stores uploaded files in %s and records the full path of each file, and the change " +
		"mounts the volume at a different path: the server cannot find files that were uploaded before the change; to keep " +
		"them, set the previous path again, or also mount the volume at the previous path " +
		"(spec.workload.overrides.volumeMounts: name " + volumeName + ", mountPath %s)"
	notServed = "the server no longer serves vector stores: the content of " + whatMark + " stays in %s; to recover the " +
		"content, remove vectorIo from spec.disabled, or configure a vectorIo provider with the same ID again"
)

// kinds maps the types of stores to the words that describe them in messages.
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
			text = strings.TrimSuffix(kinds[kind], " at") + " configured in Secret " + strings.TrimSuffix(inner, "}")
		}
	}
	if file := p.fileOf(place); file != "" && !strings.HasPrefix(file, inHome) {
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
		carry = "to keep the data, scale the stack to zero and copy the database before the change (" + tool + ")"
	}
	message := fmt.Sprintf("the data of %s stays in %s, and is missing from %s; %s; %s", whatMark, from, to, carry, goBack)
	if strings.Contains(from+to, "{Secret ") {
		message += "; if both locations refer to the same database, no data is left behind"
	}
	return message
}

// copyTool returns the tool that copies a store to another store of the same type, or an empty string if there is none.
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

func otherTable(table string, now Store) string {
	remedy := fmt.Sprintf("set the store's table_name to %q in the configuration", table)
	if variable := variableIn(now.Text); variable != "" {
		remedy = fmt.Sprintf("set the variable %s to %q in spec.workload.overrides.env", variable, table)
	}
	return fmt.Sprintf("the data of %s is in the table %q, but the server reads the table %q; to keep the data, "+
		"%s", whatMark, table, now.Table, remedy)
}

// describeFiles returns the directories of two files, with the volume of the second one.
func (c *comparison) describeFiles(was, now Place) (from, to string) {
	from, to = path.Dir(c.before.fileOf(was)), path.Dir(c.after.fileOf(now))
	if where := c.after.location(c.after.fileOf(now)); where.durable() {
		to += " on " + where.source
	}
	return from, to
}

func unmounted(source, to string, durable bool) string {
	message := fmt.Sprintf("the data of %s stays on %s, which no pod mounts any longer", whatMark, source)
	if durable {
		return message + fmt.Sprintf("; the data is missing from %s; copy it there before the change, or mount the "+
			"previous volume again to recover it", to)
	}
	return message + "; data that clients store from now on is lost with the pod; to recover the earlier data, set " +
		"spec.workload.storage again"
}

// displacement describes data that is on a volume, but that the server looks for in another place.
type displacement struct {
	// from is the location of the data. now is the directory in which the server looks for the data. durable reports
	// whether `now` is on a volume.
	from    location
	now     string
	durable bool
	// remedy is an instruction that lets the server find the data again. It may be empty. mount is the earlier mount path.
	remedy, mount string
}

func displaced(d displacement) string {
	message := fmt.Sprintf("the data of %s stays in the directory %s on %s, but the server looks for the data in %s",
		whatMark, path.Dir(d.from.path), d.from.source, d.now)
	if !d.durable {
		message += ", which is not on a volume: data that clients store there is lost with the pod"
	}
	if d.remedy != "" {
		return message + "; to keep the data, " + d.remedy
	}
	return message + fmt.Sprintf("; to keep the data, mount the volume at %s, or move the files", d.mount)
}

// setVariable returns an instruction to set the variable in a string so that the string resolves to the target. It
// returns an empty string if there is no variable, or if no value of the variable has this result.
func setVariable(text, target string) string {
	reference, found := envref.Server.First(text)
	rest, begins := strings.CutPrefix(text, reference.String())
	value, ends := strings.CutSuffix(target, rest)
	if !found || !begins || !ends || value == "" {
		return ""
	}
	return fmt.Sprintf("set the variable %s to %s in spec.workload.overrides.env", reference.Name, value)
}

// lostProvider returns the message about a vector provider that was removed or has a different ID.
func lostProvider(id, renamed, from string) string {
	if renamed != "" {
		return fmt.Sprintf("the vector provider %q is now named %q: vector stores keep the ID of their provider, and "+
			"requests to the vector stores of %q fail, even requests to delete them; keep the ID, or delete these vector stores before "+
			"the change and create them again under the new ID; if you have already changed the ID, set the previous ID again "+
			"to recover the vector stores", id, renamed, id)
	}
	return fmt.Sprintf("without the vector provider %q, requests to its vector stores fail, even requests to delete "+
		"them, and their content stays in %s; delete the vector stores before you remove the provider; if you have "+
		"already removed it, configure the provider again to recover the vector stores", id, from)
}

// hiddenKeys returns the message about a release that reads keys with another prefix than the earlier release wrote.
// The parameter prefix reports whether the later release reads the namespace of a store as the prefix of its keys.
func (c *comparison) hiddenKeys(prefix bool) string {
	writes, reads, remedy := "with the namespace of their store", "without it", throughAPI
	if prefix {
		writes, reads = "without the namespace of their store", "with it"
		remedy = fmt.Sprintf("the operator renames the keys if it generates the configuration: in a v1alpha2 stack without "+
			"overrideConfig, set spec.storage.kv to {} in the same change; otherwise, %s, and accept the change with the annotation %s: %q",
			throughAPI, Annotation, whatMark)
	}
	return fmt.Sprintf("release %s stores the keys of %s %s, but release %s reads keys %s, and does not find the existing data; "+
		"%s; to recover this data, return to release %s",
		c.before.Release, whatMark, writes, c.after.Release, reads, remedy, c.before.Release)
}

// unreadable returns the message about content that prevents a release from starting.
func (c *comparison) unreadable(what string) string {
	return fmt.Sprintf("release %s cannot read the data that %s stored under release %s, so the server does not start, "+
		"and no tool converts this data: stay on %s, or delete the vector stores of that provider through the API (DELETE /v1/vector_stores/ID) "+
		"and create them again after the change; before the change, accept the loss of the remaining data with the annotation %s: %q",
		c.after.Release, what, c.before.Release, c.before.Release, Annotation, what)
}
