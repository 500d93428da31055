package change

import (
	"bytes"
	"fmt"
	"strings"
)

const (
	// longest is the maximum length of a value in the text, in characters.
	longest = 60
	// maxFields is the maximum number of fields in a list in the text.
	maxFields = 20
)

// Write writes the change as text. `file` is the path of the manifest.
func (c *Change) Write(page *bytes.Buffer, file string) {
	fmt.Fprintf(page, "%s/%s (%s): %s\n", c.Namespace, c.Name, file, c.verdict())
	for _, warning := range c.Warnings {
		fmt.Fprintf(page, "  ! %s\n", warning)
	}
	c.writePods(page)
	c.writeData(page)
	c.writeClients(page)
	c.writeConfiguration(page)
	c.writeObjects(page)
	heading(page, "not known", len(c.Open))
	for _, text := range c.Open {
		fmt.Fprintf(page, "  ? %s\n", text)
	}
}

func (c *Change) verdict() string {
	switch {
	case c.New:
		return "new: the stack does not exist yet"
	case !c.Differs():
		return "no difference"
	case c.Pods.Restart == Restarts:
		return "changes, and the pods restart"
	case c.Pods.Restart == Blocked:
		return "changes, and the pods are not replaced until you accept the loss of data"
	default:
		return "changes, and the pods are not replaced"
	}
}

func (c *Change) writePods(page *bytes.Buffer) {
	if !c.Differs() {
		return
	}
	fmt.Fprintln(page, "\npods: "+map[Restart]string{
		Starts: "start", Stays: "are not replaced", Restarts: "restart",
		Waits: "are not replaced while the stack is paused", Blocked: "are not replaced until you accept the loss of data",
	}[c.Pods.Restart])
	for _, text := range c.Pods.Why {
		fmt.Fprintf(page, "  - %s\n", text)
	}
	if len(c.Pods.Template) > 0 {
		fmt.Fprintln(page, "  - in the pod template:")
	}
	writeList(page, c.Pods.Template)
	if c.Pods.How != "" && c.Pods.How != c.Pods.Preflight {
		fmt.Fprintf(page, "  - %s\n", c.Pods.How)
	}
	switch {
	case c.Pods.TriesFirst:
		fmt.Fprintf(page, "  - a preflight runs: %s\n", c.Pods.Preflight)
	case c.Pods.Preflight != "":
		fmt.Fprintf(page, "  - the operator does not run a preflight (it does not test the change in a separate pod first): %s\n", c.Pods.Preflight)
	}
}

func (c *Change) writeData(page *bytes.Buffer) {
	switch {
	case len(c.Data) > 0:
		heading(page, "data that the change leaves behind", len(c.Data))
	case c.Pods.replaces:
		fmt.Fprintln(page, "\ndata: the server continues to use all of it")
	}
	for _, loss := range c.Data {
		fmt.Fprintf(page, "  ! %s: %s\n", loss.Field, loss.Message)
		if loss.Waits {
			fmt.Fprintln(page, "    the operator replaces the pods only after you have accepted the loss")
		}
	}
}

func (c *Change) writeClients(page *bytes.Buffer) {
	if c.New {
		return // everything is new for clients
	}
	heading(page, "for clients", len(c.Clients))
	for _, client := range c.Clients {
		fmt.Fprintf(page, "  %s\n", client)
	}
}

func (c *Change) writeConfiguration(page *bytes.Buffer) {
	if c.New && len(c.Configuration) > 0 {
		fmt.Fprintf(page, "\nconfiguration: %d keys, all new; see kubectl llamastack render --explain\n",
			len(c.Configuration))
		return
	}
	heading(page, "configuration", len(c.Configuration))
	for _, key := range c.Configuration {
		fmt.Fprintf(page, "  %s %s: %s  (%s)\n", sign(key.From != nil, key.To != nil), key.Path, arrow(deref(key.From),
			deref(key.To)), key.Origin)
	}
}

func (c *Change) writeObjects(page *bytes.Buffer) {
	heading(page, "objects", len(c.Objects))
	for i := range c.Objects {
		object := &c.Objects[i]
		name := object.Kind + "/" + object.Name
		switch {
		case object.Action == Added:
			fmt.Fprintf(page, "  + %s\n", name)
		case object.Action == Removed:
			fmt.Fprintf(page, "  - %s\n", name)
		case object.Action == Kept:
			fmt.Fprintf(page, "  = %s: the stack no longer uses it, but the operator keeps it\n", name)
		case object.Was != "":
			fmt.Fprintf(page, "  ~ %s, which replaces %s\n", name, object.Was)
			continue // a separate section lists the changes to the configuration
		default:
			fmt.Fprintf(page, "  ~ %s\n", name)
		}
		fields := make([]string, 0, len(object.Fields))
		for _, field := range object.Fields {
			fields = append(fields, fmt.Sprintf("%s %s: %s", sign(field.From != "", field.To != ""), field.Path,
				arrow(field.From, field.To)))
		}
		writeList(page, fields)
	}
}

// writeList writes the first lines of a list, and the number of lines that it omits.
func writeList(page *bytes.Buffer, lines []string) {
	for _, line := range lines[:min(len(lines), maxFields)] {
		fmt.Fprintf(page, "      %s\n", line)
	}
	if more := len(lines) - maxFields; more > 0 {
		fmt.Fprintf(page, "      and %d more; see -o diff\n", more)
	}
}

func heading(page *bytes.Buffer, title string, count int) {
	if count > 0 {
		fmt.Fprintf(page, "\n%s: %d\n", title, count)
	}
}

// sign returns the mark of an entry: added, removed or changed.
func sign(was, is bool) string {
	switch {
	case !was:
		return "+"
	case !is:
		return "-"
	default:
		return "~"
	}
}

// arrow returns both values with an arrow between them, or the value of the side that has a value.
func arrow(from, to string) string {
	if short := Shortened(from); from != to && short == Shortened(to) {
		from, to = fromDifference(from, to)
	}
	from, to = Shortened(from), Shortened(to)
	switch {
	case from == "":
		return to
	case to == "":
		return from
	default:
		return from + " -> " + to
	}
}

// leading is the number of characters that are shown before the first difference between two long values.
const leading = 12

// fromDifference returns the rest of each value. The rest begins shortly before the first difference between the
// values.
func fromDifference(from, to string) (fromPart, toPart string) {
	a, b := []rune(from), []rune(to)
	same := 0
	for same < len(a) && same < len(b) && a[same] == b[same] {
		same++
	}
	same = max(0, same-leading)
	return "…" + string(a[same:]), "…" + string(b[same:])
}

// Shortened returns a value on one line, cut to the maximum length.
func Shortened(value string) string {
	value = strings.ReplaceAll(value, "\n", " ")
	if runes := []rune(value); len(runes) > longest {
		return string(runes[:longest-1]) + "…"
	}
	return value
}

func deref(text *string) string {
	switch {
	case text == nil:
		return ""
	case *text == "":
		return `""`
	default:
		return *text
	}
}
