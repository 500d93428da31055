// Command reference completes the API reference that crd-ref-docs writes. It adds tables to the fields that accept more
// than one shape: a table of the shapes, and a table of the keys of the object shape. The CustomResourceDefinition has
// no type for these fields, so crd-ref-docs prints only their description.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/hack/internal/shapes"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: reference TYPES FILE OLDER")
		os.Exit(2)
	}
	if err := rewrite(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "reference:", err)
		os.Exit(1)
	}
}

// rewrite adds the tables to the page for a version, and repairs the links on this page and on the older version's
// page.
func rewrite(types, file, olderFile string) error {
	fields, err := shapes.Read(types)
	if err != nil {
		return err
	}
	page, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("read reference: %w", err)
	}
	older, err := os.ReadFile(olderFile)
	if err != nil {
		return fmt.Errorf("read the older reference: %w", err)
	}
	text, err := complete(string(page), fields)
	if err != nil {
		return fmt.Errorf("complete %s: %w", file, err)
	}
	if err := write(file, relink(text, "", "")); err != nil {
		return err
	}
	return write(olderFile, relink(string(older), text, filepath.Base(file)))
}

func write(file, text string) error {
	//nolint:gosec // a public file of the repository
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		return fmt.Errorf("write reference: %w", err)
	}
	return nil
}

// typeless is the text that crd-ref-docs prints for a field without a type.
const typeless = "_Validation:_\n- Type: \n\n"

// complete adds the tables to the sections of the types.
func complete(page string, fields map[string][]shapes.Field) (string, error) {
	for _, name := range shapes.Names() {
		heading := "\n#### " + name + "\n"
		before, after, ok := strings.Cut(page, heading)
		if !ok {
			return "", fmt.Errorf("the page has no section %s", name)
		}
		section, rest, ok := strings.Cut(after, "\n#### ")
		if !ok {
			return "", fmt.Errorf("the section %s has no end", name)
		}
		section = strings.Replace(section, typeless, "", 1)
		section = strings.TrimRight(section, "\n") + "\n\n" + tables(name, fields[name])
		page = before + heading + section + "\n\n\n#### " + rest
	}
	return page, nil
}

// tables returns the table of the shapes of a type, and the table of the keys of its object shape.
func tables(name string, fields []shapes.Field) string {
	var out strings.Builder
	out.WriteString("| Shape | Example | Meaning |\n| --- | --- | --- |\n")
	for _, form := range shapes.Forms(name) {
		fmt.Fprintf(&out, "| %s | `%s` | %s |\n", form.Type, form.Example, cell(form.Meaning))
	}
	out.WriteString("\nKeys of the object:\n\n| Key | Type | Required | Meaning |\n| --- | --- | --- | --- |\n")
	for _, field := range fields {
		required := ""
		if field.Required {
			required = "yes"
		}
		fmt.Fprintf(&out, "| `%s` | %s | %s | %s |\n", field.Name, typeOf(field.Kind), required, cell(field.Doc))
	}
	if name == shapes.Providers {
		const other = "A key of the provider's configuration, with its value in a Secret. This is the short form of secretRefs."
		fmt.Fprintf(&out, "| any other key | %s | | %s |\n", typeOf(shapes.Secret), other)
	}
	return strings.TrimRight(out.String(), "\n")
}

// typeOf returns the type of a key. For a secret reference, the type is a link to the section about secret references.
func typeOf(kind shapes.Kind) string {
	const link = "[SecretReference](#secretreference)"
	switch kind {
	case shapes.Secret:
		return link
	case shapes.Texts:
		return "object of strings"
	case shapes.SecretMap:
		return "object of " + link
	default:
		return string(kind)
	}
}

var required = regexp.MustCompile(` Required\.`)

// cell escapes text for a table cell. It removes the word "Required.", because the table has a column for it.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "{", `\{`, "}", `\}`, "<", `\<`).Replace(required.ReplaceAllString(text, ""))
}
