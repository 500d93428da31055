package verdict

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// freshVariable is the environment variable that, with the value freshValue, makes every test ask its server again.
const (
	freshVariable = "VERDICTS"
	freshValue    = "fresh"
)

const (
	// keptFiles is the number of files of a name that remain. Work trees with different fixed parts share the folder.
	keptFiles = 4
	// maxSize is the size in bytes from which a file is replaced, because most of its verdicts are for earlier requests.
	maxSize = 32 << 20
)

// Store contains the kept verdicts for one combination of fixed parts. It is safe for concurrent use, also by several
// processes with the same file.
type Store struct {
	path, fixed string

	mu    sync.Mutex
	known map[string]json.RawMessage // keyed by Key
}

// line is a line of the file.
type line struct {
	Key   string          `json:"key"`
	Value json.RawMessage `json:"value"`
}

// Open reads the store with a name and fixed parts. The digest of the fixed parts is also in every key of the store, so
// that a copied or renamed file contains no verdict that Load returns.
func Open(name, fixed string) (*Store, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, fmt.Errorf("find the cache directory: %w", err)
	}
	dir := filepath.Join(cache, "llama-stack-k8s-operator", "verdicts")
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, fmt.Errorf("create the folder of verdicts: %w", err)
	}
	s := &Store{
		path: filepath.Join(dir, fmt.Sprintf("%s-%.12s.jsonl", name, fixed)), fixed: fixed,
		known: map[string]json.RawMessage{},
	}
	if err := s.read(); err != nil {
		return nil, fmt.Errorf("read %q: %w", s.path, err)
	}
	return s, s.removeOthers(filepath.Join(dir, name+"-*.jsonl"))
}

// read reads the file, if it exists. It ignores lines that are not verdicts, for example a line that a killed process
// wrote only in part.
func (s *Store) read() error {
	if os.Getenv(freshVariable) == freshValue {
		return nil
	}
	file, err := os.Open(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || info.Size() > maxSize {
		return errors.Join(err, os.Remove(s.path))
	}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, maxSize)
	for lines.Scan() {
		var l line
		if json.Unmarshal(lines.Bytes(), &l) == nil && l.Key != "" {
			s.known[l.Key] = l.Value
		}
	}
	return lines.Err()
}

// removeOthers marks the file as used, and removes all but the most recently used files that match the pattern.
func (s *Store) removeOthers(pattern string) error {
	now := time.Now()
	if err := os.Chtimes(s.path, now, now); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("mark verdicts as used: %w", err)
	}
	files, err := filepath.Glob(pattern)
	if err != nil {
		return fmt.Errorf("list verdicts: %w", err)
	}
	used := make(map[string]time.Time, len(files))
	for _, file := range files {
		if info, err := os.Stat(file); err == nil {
			used[file] = info.ModTime()
		}
	}
	slices.SortFunc(files, func(a, b string) int { return used[b].Compare(used[a]) })
	for _, file := range files[min(keptFiles, len(files)):] {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove outdated verdicts: %w", err)
		}
	}
	return nil
}

// Key returns the key for the parts that differ between the verdicts of a store.
func (s *Store) Key(parts ...any) (string, error) {
	text, err := json.Marshal(parts)
	if err != nil {
		return "", fmt.Errorf("write the key of a verdict: %w", err)
	}
	return Digest(s.fixed, string(text)), nil
}

// Load reads the verdict with a key into the parameter value, and reports whether the verdict exists.
func (s *Store) Load(key string, value any) bool {
	s.mu.Lock()
	text, ok := s.known[key]
	s.mu.Unlock()
	if !ok {
		return false
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	return decoder.Decode(value) == nil
}

// Save keeps a verdict. Each line begins with an empty line, because the last line of the file may be incomplete.
func (s *Store) Save(key string, value any) error {
	text, err := json.Marshal(value)
	if err == nil {
		s.mu.Lock()
		s.known[key] = text
		s.mu.Unlock()
		text, err = json.Marshal(line{Key: key, Value: text})
	}
	if err != nil {
		return fmt.Errorf("write verdict: %w", err)
	}
	file, err := os.OpenFile(s.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("keep verdict: %w", err)
	}
	// One call writes the whole line, so the lines of several processes do not mix.
	_, err = file.Write(slices.Concat([]byte("\n"), text, []byte("\n")))
	return errors.Join(err, file.Close())
}
