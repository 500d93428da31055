package distribution

import "strings"

// tag returns the tag of an image reference, for example 0.7.1 for host:5000/a/b:0.7.1@sha256:…. It returns an empty
// string if the reference has no tag.
func tag(image string) string {
	image, _, _ = strings.Cut(image, "@")
	name := image[strings.LastIndexByte(image, '/')+1:]
	_, tag, _ := strings.Cut(name, ":")
	return tag
}

// Image returns the override for a name. An override for the name and version takes precedence.
func (o Overrides) Image(name, version string) (string, bool) {
	if version != "" {
		if image, ok := o[name+"@"+version]; ok {
			return image, true
		}
	}
	image, ok := o[name]
	return image, ok
}
