package version

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/version"
)

// Skew returns a sentence for each pair of versions that do not work together, by docs/explanation/support.md. It
// ignores what is not a version, such as the tag "dev".
func Skew(r Report) []string {
	found := []string{}
	if r.Server == nil {
		return found
	}
	for _, operator := range r.Server.Operators {
		found = append(found, skewOf(r, "operator "+operator.Namespace+"/"+operator.Name, operator.Version)...)
	}
	if len(r.Server.Operators) == 0 {
		for _, written := range r.Server.Stacks {
			found = append(found, skewOf(r, "the operator that wrote the status of stacks", written.Version)...)
		}
	}
	return found
}

func skewOf(r Report, name, operator string) []string {
	running, err := version.ParseSemantic(operator)
	if err != nil {
		return nil
	}
	var found []string
	command, err := version.ParseSemantic(r.Client.Version)
	if err == nil && (command.Major() != running.Major() || command.Minor()+1 < running.Minor() ||
		running.Minor()+1 < command.Minor()) {
		found = append(found, fmt.Sprintf("%s has version %s, and this command has version %s, but they can differ by only one "+
			"minor version; use the version of the command that matches the operator", name, operator, r.Client.Version))
	}
	definition, err := version.ParseSemantic(r.Server.Definition)
	if err == nil && definition.String() != running.String() {
		found = append(found, fmt.Sprintf("%s has version %s, and the CustomResourceDefinition has version %s, but they must "+
			"have the same version; apply the operator's manifest or upgrade its chart again", name, operator, r.Server.Definition))
	}
	return found
}
