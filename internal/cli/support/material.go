package support

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/installation"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/redact"
)

// These are the limits for an archive.
const (
	// MaxObjects is the maximum number of objects.
	MaxObjects = 5_000
	// MaxEvents is the maximum number of events per namespace. The archive contains the newest events.
	MaxEvents = 1_000
	// MaxLogLines and MaxLogBytes limit the log of a container. The archive contains the end of the log.
	MaxLogLines = 2_000
	MaxLogBytes = 1 << 20
	// MaxBytes is the maximum total size of the files before compression.
	MaxBytes = 64 << 20
)

// Log is the log of a container.
type Log struct {
	// Namespace, Pod and Container identify the container.
	Namespace, Pod, Container string
	// Previous reports whether this is the log from before the last restart of the container.
	Previous bool
	// Text is the log.
	Text string
}

// Material contains the objects and logs that were read from a cluster. They may contain secrets.
type Material struct {
	// Versions contains the versions of programs, keyed by program name.
	Versions map[string]string
	// Objects are objects in the form in which the API server returns them, including Secrets.
	Objects []map[string]any
	// Events are events of any API version.
	Events []map[string]any
	// Logs are container logs.
	Logs []Log
	// Findings are the findings of package installation.
	Findings []installation.Finding
	// LeftOut contains a sentence for each object or log that was not read, with the reason.
	LeftOut []string
}

// File is a file in an archive.
type File struct {
	// Name is the path in the archive.
	Name string
	// Data is the content of the file.
	Data []byte
}

// Files returns the files in the archive without secrets, sorted by name, and reports whether they are complete. If
// they are not, the file left-out.txt lists the objects, events and logs that were omitted, including those that
// exceeded the limits. It does not list truncated logs, whose end is in the archive.
func (m *Material) Files() (files []File, complete bool, err error) {
	b := &builder{left: slices.Clone(m.LeftOut), files: map[string][]byte{}}
	for _, object := range m.Objects {
		b.known.Learn(object)
	}
	b.objects(m.Objects)
	b.events(m.Events)
	if err := b.yaml("versions.yaml", m.Versions); err != nil {
		return nil, false, err
	}
	findings := slices.Clone(m.Findings)
	for i := range findings {
		findings[i].Message = b.known.Text(findings[i].Message)
	}
	if err := b.yaml("doctor.yaml", findings); err != nil {
		return nil, false, err
	}
	b.logs(m.Logs) // logs are the largest files, so they are the first to be omitted
	return b.sorted(), len(b.left) == 0 && !b.known.IsFull(), b.err
}

// root is the folder that contains all files.
const root = "llamastack-support"

// builder collects the files of an archive.
type builder struct {
	known redact.Known
	files map[string][]byte
	left  []string
	size  int
	err   error
}

// logs adds a file for each log, sorted by name.
func (b *builder) logs(logs []Log) {
	logs = slices.Clone(logs)
	slices.SortFunc(logs, func(x, y Log) int { return cmp.Compare(x.name(), y.name()) })
	for _, log := range logs {
		b.add(log.name(), []byte(b.known.Text(end(log.Text))))
	}
}

// sorted adds the file left-out.txt and returns all files, sorted by name.
func (b *builder) sorted() []File {
	slices.Sort(b.left)
	left := b.known.Text(strings.Join(slices.Compact(b.left), "\n"))
	if b.known.IsFull() {
		left = "all texts: the Secrets and ConfigMaps of the stacks have too many lines to find them in texts; name fewer stacks"
	}
	b.files["left-out.txt"] = []byte(left + "\n")
	files := make([]File, 0, len(b.files))
	for _, name := range slices.Sorted(maps.Keys(b.files)) {
		files = append(files, File{Name: path.Join(root, name), Data: b.files[name]})
	}
	return files
}

// add adds a file unless the archive would exceed MaxBytes.
func (b *builder) add(name string, data []byte) {
	if b.size+len(data) > MaxBytes {
		b.left = append(b.left, fmt.Sprintf("%s: with this file, the archive would have more than %d bytes", name, MaxBytes))
		return
	}
	b.size += len(data)
	b.files[name] = data
}

// yaml adds a value as YAML.
func (b *builder) yaml(name string, value any) error {
	data, err := yaml.Marshal(value)
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	b.add(name, data)
	return nil
}

// objects adds a file for each object.
func (b *builder) objects(objects []map[string]any) {
	for i, object := range objects {
		if i >= MaxObjects {
			b.left = append(b.left, fmt.Sprintf("objects (%d of %d): the archive can contain at most %d objects", len(objects)-MaxObjects, len(objects), MaxObjects))
			return
		}
		if err := b.yaml(nameOf(object), b.known.Object(object)); err != nil && b.err == nil {
			b.err = err
		}
	}
}

// events adds one file for each namespace. The file contains the events in the namespace, from oldest to newest.
func (b *builder) events(events []map[string]any) {
	by := map[string][]any{}
	sorted := slices.Clone(events)
	slices.SortStableFunc(sorted, func(x, y map[string]any) int { return cmp.Compare(timeOf(x), timeOf(y)) })
	for _, event := range sorted {
		_, namespace, _ := identity(event)
		by[namespace] = append(by[namespace], b.known.Object(event))
	}
	for namespace, all := range by {
		if more := len(all) - MaxEvents; more > 0 {
			b.left = append(b.left, fmt.Sprintf("the oldest events in namespace %q (%d of %d): the archive can contain at most %d events for each namespace", namespace, more, len(all), MaxEvents))
			all = all[more:]
		}
		if err := b.yaml(path.Join(scopeOf(namespace), "events.yaml"), all); err != nil && b.err == nil {
			b.err = err
		}
	}
}

// identity returns the kind, the namespace and the name of an object.
func identity(object map[string]any) (kind, namespace, name string) {
	kind, _ = object["kind"].(string)
	metadata, _ := object["metadata"].(map[string]any)
	namespace, _ = metadata["namespace"].(string)
	name, _ = metadata["name"].(string)
	return kind, namespace, name
}

// nameOf returns the path of the file for an object.
func nameOf(object map[string]any) string {
	kind, namespace, name := identity(object)
	return path.Join(scopeOf(namespace), safe(kind), safe(name)+".yaml")
}

func scopeOf(namespace string) string {
	if namespace == "" {
		return "cluster"
	}
	return path.Join("namespaces", safe(namespace))
}

// safe returns a name without characters that have a special meaning in paths.
func safe(name string) string {
	return strings.NewReplacer("/", "_", "\\", "_", "..", "__").Replace(name)
}

// timeOf returns the time of an event as text. The alphabetical order of such strings is also their chronological
// order, except within a second.
func timeOf(event map[string]any) string {
	for _, field := range []string{"lastTimestamp", "eventTime", "deprecatedLastTimestamp", "firstTimestamp"} {
		if text, _ := event[field].(string); text != "" {
			return text
		}
	}
	metadata, _ := event["metadata"].(map[string]any)
	text, _ := metadata["creationTimestamp"].(string)
	return text
}

// name returns the path of the file for a log.
func (l Log) name() string {
	kind := ".log"
	if l.Previous {
		kind = ".previous.log"
	}
	return path.Join(scopeOf(l.Namespace), "logs", safe(l.Pod)+"."+safe(l.Container)+kind)
}

// end returns the last lines of a log within the limits.
func end(text string) string {
	if more := len(text) - MaxLogBytes; more > 0 {
		text = text[more:]
		if at := strings.IndexByte(text, '\n'); at >= 0 {
			text = text[at+1:] // an incomplete line may contain a part of a secret
		} else {
			text = ""
		}
	}
	lines := strings.SplitAfter(text, "\n")
	return strings.Join(lines[max(0, len(lines)-MaxLogLines-1):], "")
}
