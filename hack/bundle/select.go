package main

import (
	"fmt"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
)

// selected is an image for the bundle.
type selected struct {
	reference, source string
	operator          bool
}

// all selects every image in the catalog.
const all = "all"

// selection returns the requested images: the operator's image, distributions in the catalog, and images by name.
func selection(operator string, servers []string) ([]selected, error) {
	var wanted []selected
	add := func(reference, source string, isOperator bool) error {
		if _, err := name.ParseReference(reference); err != nil {
			return fmt.Errorf("%q is not an image name: %w", reference, err)
		}
		if source == "" {
			source = reference
		}
		for i := range wanted {
			if wanted[i].reference == reference {
				if wanted[i].source != source {
					return fmt.Errorf("%q is requested from two sources; remove one of the two requests", reference)
				}
				return nil
			}
		}
		wanted = append(wanted, selected{reference, source, isOperator})
		return nil
	}
	reference, source, _ := strings.Cut(operator, "=")
	if err := add(reference, source, true); err != nil {
		return nil, err
	}
	for _, server := range servers {
		text, source, _ := strings.Cut(server, "=")
		references, err := references(text)
		if err != nil {
			return nil, err
		}
		for _, reference := range references {
			if err := add(reference, source, false); err != nil {
				return nil, err
			}
		}
	}
	return wanted, nil
}

// references returns the images that an argument selects. The argument is "all", a distribution, a distribution with a
// version, or the name of an image.
func references(text string) ([]string, error) {
	var found []string
	if text == all {
		for _, one := range distribution.Images() {
			found = append(found, one.Image)
		}
		return found, nil
	}
	if strings.ContainsAny(text, "/:") {
		return []string{text}, nil
	}
	name, version, _ := strings.Cut(text, "@")
	resolved, err := distribution.Resolve(name, "", version, nil)
	if err != nil {
		return nil, err
	}
	return []string{resolved.Image}, nil
}
