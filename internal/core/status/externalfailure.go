package status

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	corev1 "k8s.io/api/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// copyLimit is the maximum time for which an external provider's init container may run. A successful copy takes less
// time.
const copyLimit = 10 * time.Minute

// externalFailure returns the reason why an external provider cannot be installed in a pod. It is empty if no failure
// is known. The reason may contain messages from init containers. These containers have no secrets, because they have
// no environment variables and no token.
func externalFailure(pod *corev1.Pod, provider *ExternalProvider, all []ExternalProvider, now time.Time) string {
	if message := tooMuch(pod); message != "" {
		return message
	}
	if message := copyFailure(pod, provider, now); message != "" {
		return message
	}
	if blamed, message := installFailure(pod, all); message != "" && (blamed == nil || blamed.ID == provider.ID) {
		return message
	}
	for i := range pod.Status.ContainerStatuses {
		if container := &pod.Status.ContainerStatuses[i]; !container.Ready && blames(lastEnd(container, false), provider) {
			return moduleFailure(pod, container, provider)
		}
	}
	return ""
}

// tooMuch returns a message if the packages of all external providers do not fit into their volume.
func tooMuch(pod *corev1.Pod) string {
	if pod.Status.Phase == corev1.PodFailed && strings.Contains(pod.Status.Message, `"`+names.ExternalVolume+`"`) {
		return fmt.Sprintf("the packages of all external providers together are too large; use smaller packages. Pod %q ended (%s): %s",
			pod.Name, pod.Status.Reason, printable(pod.Status.Message))
	}
	return ""
}

// copyFailure returns the reason why the package cannot be copied from its image.
func copyFailure(pod *corev1.Pod, provider *ExternalProvider, now time.Time) string {
	container := initStatus(pod, names.ExternalCopyContainer(provider.ID))
	if container == nil || hasEnded(container) {
		return ""
	}
	logs := fmt.Sprintf("see kubectl logs %s -c %s", pod.Name, container.Name)
	if ended := lastEnd(container, true); ended != nil {
		return failedCopy(provider, ended, logs)
	}
	if waiting := container.State.Waiting; waiting != nil {
		switch {
		case slices.Contains(notPulled, waiting.Reason):
			return providerPullFailure(pod.Name, provider, waiting)
		case slices.Contains(notCreated, waiting.Reason):
			return notCreatedMessage(container)
		}
	}
	if running := container.State.Running; running != nil && !now.Before(running.StartedAt.Add(copyLimit)) {
		return fmt.Sprintf("the programs in image %q have been copying the package for more than %s; %s", provider.Image, minutes(copyLimit), logs)
	}
	return ""
}

// failedCopy returns the reason why a container that copies the package of a provider failed. The parameter `logs` is a
// hint for finding the container's logs. The reason includes this hint only if the cause is unknown.
func failedCopy(provider *ExternalProvider, ended *corev1.ContainerStateTerminated, logs string) string {
	switch {
	case ended.Reason == "OOMKilled":
		return fmt.Sprintf("the programs in image %q ran out of memory while copying the package; make the package smaller", provider.Image)
	case slices.Contains(notStarted, ended.Reason):
		return fmt.Sprintf("the package cannot be copied from image %q, which must contain /bin/sh, cp and du: %s", provider.Image, takenOver(ended.Message))
	case printable(ended.Message) != "":
		return printable(ended.Message)
	default:
		return fmt.Sprintf("the package cannot be copied from image %q: exit code %d; %s", provider.Image, ended.ExitCode, logs)
	}
}

// providerPullFailure returns the reason why the image of an external provider cannot be pulled.
func providerPullFailure(pod string, provider *ExternalProvider, waiting *corev1.ContainerStateWaiting) string {
	meaning := pullMeaning(waiting, provider.Path+".imagePullPolicy")
	if meaning == "" {
		meaning = "check the name of the image; if the registry requires credentials, add a pull Secret to spec.workload.overrides.imagePullSecrets"
	}
	return fmt.Sprintf("Failed to pull provider image %q: %s; see kubectl describe pod %s", provider.Image, meaning, pod)
}

// installFailure returns the reason why the packages are not installed, and the provider that caused the failure. The
// provider is nil if no single provider caused the failure.
func installFailure(pod *corev1.Pod, all []ExternalProvider) (*ExternalProvider, string) {
	container := initStatus(pod, names.ExternalContainer)
	if container == nil || hasEnded(container) {
		return nil, ""
	}
	ended := lastEnd(container, true)
	if ended == nil {
		return nil, ""
	}
	var said struct{ Provider, Message string }
	if json.Unmarshal([]byte(ended.Message), &said) != nil || printable(said.Message) == "" {
		return nil, crash(pod.Name, container.Name, ended)
	}
	if i := slices.IndexFunc(all, func(p ExternalProvider) bool { return p.ID == said.Provider }); i >= 0 {
		return &all[i], printable(said.Message)
	}
	return nil, printable(said.Message)
}

// moduleFailure returns a message about a server that ended because of a provider's module. The message contains the
// name of a known exception, but no other output of the server, because the output may contain secrets.
func moduleFailure(pod *corev1.Pod, container *corev1.ContainerStatus, provider *ExternalProvider) string {
	how := "exits"
	if class, _ := exceptionIn(lastEnd(container, false).Message); class != "" {
		how = "crashes with " + class
	}
	return fmt.Sprintf("the server %s in the provider's module %q; see kubectl logs %s -c %s --previous", how, provider.Module, pod.Name, container.Name)
}

// blames reports whether the last lines of a server's output contain the name of a provider's module in one of three
// positions: as the file in which Python located an error, between quotes, or after the word "module".
func blames(ended *corev1.ContainerStateTerminated, provider *ExternalProvider) bool {
	if ended == nil || provider.Module == "" {
		return false
	}
	place := names.ExternalPackages + "/" + strings.ReplaceAll(provider.Module, ".", "/")
	return contains(ended.Message, place, func(_, after string) bool {
		return strings.HasPrefix(after, "/") || strings.HasPrefix(after, ".py")
	}) || contains(ended.Message, provider.Module, func(before, after string) bool {
		named := strings.HasSuffix(before, "module ") || strings.HasSuffix(before, "'") || strings.HasSuffix(before, `"`)
		return named && strings.IndexFunc(after, isWord) != 0
	})
}

// contains reports whether `text` contains `part` at a position where the function `fits` accepts the text before and
// after `part`.
func contains(text, part string, fits func(before, after string) bool) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], part)
		if i < 0 {
			return false
		}
		if i += from; fits(text[:i], text[i+len(part):]) {
			return true
		}
		from = i + 1
	}
}

func isWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// lastEnd returns the most recent termination of a container, or nil if the container has not ended. If mayEnd is true,
// lastEnd ignores a successful end, because an init container must end before the server can start.
func lastEnd(container *corev1.ContainerStatus, mayEnd bool) *corev1.ContainerStateTerminated {
	ended := cmp.Or(container.State.Terminated, container.LastTerminationState.Terminated)
	if ended != nil && ended.ExitCode == 0 && mayEnd {
		return nil
	}
	return ended
}

// printable returns a termination message on one line, shortened, without control characters.
func printable(message string) string {
	line := strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, strings.ToValidUTF8(message, ""))
	return takenOver(strings.Join(strings.Fields(line), " "))
}

// externalTrouble returns the reason why a container that installs external providers fails. It is empty for any other
// container, and for a container without a failure.
func externalTrouble(pod *corev1.Pod, container string, all []ExternalProvider, now time.Time) string {
	if container == names.ExternalContainer {
		blamed, message := installFailure(pod, all)
		if blamed != nil {
			message = inProvider(blamed, container, message)
		}
		return message
	}
	i := slices.IndexFunc(all, func(p ExternalProvider) bool { return container == names.ExternalCopyContainer(p.ID) })
	if i < 0 {
		return ""
	}
	message := copyFailure(pod, &all[i], now)
	if message == "" {
		return ""
	}
	return inProvider(&all[i], container, message)
}

// crashedModule returns a message if a server ended because of an external provider's module. Otherwise, it returns an
// empty string.
func crashedModule(pod *corev1.Pod, container *corev1.ContainerStatus, all []ExternalProvider) string {
	for i := range all {
		if blames(lastEnd(container, false), &all[i]) {
			return inProvider(&all[i], container.Name, moduleFailure(pod, container, &all[i]))
		}
	}
	return ""
}

func inProvider(provider *ExternalProvider, container, message string) string {
	return fmt.Sprintf("external provider %q from image %q, container %q: %s", provider.ID, provider.Image, container, message)
}
