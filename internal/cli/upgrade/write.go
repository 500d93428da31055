package upgrade

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/change"
)

// Write writes the report as text. If `all` is true, the text includes the changes that no field of the spec causes.
func (r *Report) Write(page *bytes.Buffer, all bool) {
	name := r.Stack
	if r.File == "" {
		name = r.Namespace + "/" + r.Stack
	}
	fmt.Fprintf(page, "%s: ", name)
	switch r.Result {
	case Pinned:
		fmt.Fprintf(page, "%s\nTo change the release, set spec.distribution.image to an image of release %s, or set "+
			"spec.distribution.name.\n", r.Pinned, r.To)
		return
	case Deleting:
		fmt.Fprintln(page, "the stack is being deleted")
		return
	default: // the other results have details
	}
	fmt.Fprintf(page, "%s to %s: %s\n", cmp.Or(r.From, "-"), r.To, r.Result)
	for _, text := range r.Unknown {
		fmt.Fprintf(page, "  ? %s\n", text)
	}
	if r.Result != NotKnown {
		r.writeEffects(page, all)
	}
}

func (r *Report) writeEffects(page *bytes.Buffer, all bool) {
	r.writeActions(page)
	if !r.Boots && len(r.Changes) == 0 {
		fmt.Fprintf(page, "\ndata and clients: not known, because the stack would not start on %s\n", r.To)
		return
	}
	r.writeData(page)
	r.writeClients(page)
	r.writeChanges(page, all)
}

func (r *Report) writeActions(page *bytes.Buffer) {
	if len(r.Actions) == 0 {
		fmt.Fprintln(page, "\nneeds action: nothing")
		return
	}
	fmt.Fprintf(page, "\nneeds action: %d\n", len(r.Actions))
	for i, action := range r.Actions {
		number := strconv.Itoa(i+1) + ". "
		indent := "  " + strings.Repeat(" ", len(number))
		fmt.Fprintf(page, "  %s%s%s\n", number, cmp.Or(action.Field, "the stack"), action.kind())
		fmt.Fprintf(page, "%s%s\n", indent, action.Problem)
		if action.Remedy != "" {
			fmt.Fprintf(page, "%s-> %s\n", indent, action.Remedy)
		}
	}
}

func (a *Action) kind() string {
	switch {
	case a.Already:
		return " (prevents the upgrade, and is also an error in the current release)"
	case a.Stops:
		return " (prevents the upgrade)"
	default:
		return ""
	}
}

func (r *Report) writeData(page *bytes.Buffer) {
	switch {
	case len(r.Left) == 0 && r.waits:
		fmt.Fprintln(page, "\ndata: see the actions")
		return
	case len(r.Left) == 0:
		fmt.Fprintln(page, "\ndata: nothing is left behind")
		return
	}
	fmt.Fprintf(page, "\ndata that is left behind: %d\n", len(r.Left))
	for _, text := range r.Left {
		fmt.Fprintf(page, "  - %s\n", text)
	}
}

func (r *Report) writeClients(page *bytes.Buffer) {
	if len(r.Clients) == 0 {
		fmt.Fprintln(page, "\nfor clients: nothing changes")
		return
	}
	fmt.Fprintf(page, "\nfor clients: %d\n", len(r.Clients))
	for _, client := range r.Clients {
		fmt.Fprintf(page, "  %s\n", client)
	}
}

func (r *Report) writeChanges(page *bytes.Buffer, all bool) {
	writeDifferences(page, "image and your fields", r.own)
	if !all {
		if count := len(r.base) + len(r.remarks); count > 0 {
			fmt.Fprintf(page, "\nbase configuration: changes that are not caused by fields of the spec: %d; list them with "+
				"--all\n", count)
		}
		return
	}
	writeDifferences(page, "base configuration", r.base)
	for _, text := range r.remarks {
		fmt.Fprintf(page, "  ! %s\n", text)
	}
}

func writeDifferences(page *bytes.Buffer, title string, differences []change.Difference) {
	if len(differences) == 0 {
		return
	}
	fmt.Fprintf(page, "\n%s: %d\n", title, len(differences))
	for _, one := range differences {
		one.From, one.To = change.Shortened(one.From), change.Shortened(one.To)
		fmt.Fprintf(page, "  %s\n", one)
	}
}

// Rows returns a table with one row for each stack.
func Rows(reports []Report) [][]string {
	rows := [][]string{{"NAMESPACE", "NAME", "FROM", "TO", "RESULT", "ACTIONS", "DATA", "CLIENTS"}}
	for i := range reports {
		r := &reports[i]
		rows = append(rows, []string{
			r.Namespace, r.Stack, cmp.Or(r.From, "-"), r.To, string(r.Result), number(len(r.Actions)), number(len(r.Left)),
			number(len(r.Clients)),
		})
	}
	return rows
}

func number(count int) string {
	if count == 0 {
		return "-"
	}
	return strconv.Itoa(count)
}

// Refusals returns the number of stacks that would not start.
func Refusals(reports []Report) int {
	return len(slices.DeleteFunc(slices.Clone(reports), func(r Report) bool { return r.Result != WouldNotStart }))
}
