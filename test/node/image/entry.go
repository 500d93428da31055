package image

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// Entry is a file, an empty folder or a link in a layer, or a folder with all its contents.
type Entry interface {
	write(into *layerWriter) error
}

// root is the owner of every entry without an explicit owner.
const root = 0

// Directory is an entry for an empty folder and its parents.
type Directory struct {
	Path     string
	Mode     fs.FileMode
	UID, GID int
}

// Content is an entry for a file with the given contents.
type Content struct {
	Path    string
	Mode    fs.FileMode
	Content []byte
}

// File is an entry for a copy of one file on this machine. A link is replaced with its target.
type File struct {
	Source, Path string
	Mode         fs.FileMode
}

// Link is an entry for a symbolic link.
type Link struct{ Path, Target string }

// Tree is an entry for a copy of a folder on this machine. Every user can read the copy. Omit reports whether the file
// or folder at a path in the image is omitted. If a folder is omitted, everything in it is omitted too.
type Tree struct {
	Source, Path string
	Omit         func(path string) bool
}

func (d Directory) write(into *layerWriter) error {
	header := &tar.Header{Typeflag: tar.TypeDir, Mode: tarMode(d.Mode), Uid: d.UID, Gid: d.GID}
	return into.add(d.Path, header, nil)
}

func (c Content) write(into *layerWriter) error {
	header := &tar.Header{Typeflag: tar.TypeReg, Mode: tarMode(c.Mode), Size: int64(len(c.Content))}
	return into.add(c.Path, header, bytes.NewReader(c.Content))
}

func (f File) write(into *layerWriter) error {
	source, err := os.Open(f.Source)
	if err != nil {
		return fmt.Errorf("open a file for the image: %w", err)
	}
	defer source.Close()
	info, err := source.Stat()
	if err != nil {
		return fmt.Errorf("read the properties of a file for the image: %w", err)
	}
	header := &tar.Header{Typeflag: tar.TypeReg, Mode: tarMode(f.Mode), Size: info.Size()}
	return into.add(f.Path, header, source)
}

func (l Link) write(into *layerWriter) error {
	return into.add(l.Path, &tar.Header{Typeflag: tar.TypeSymlink, Linkname: l.Target, Mode: 0o777}, nil)
}

func (t Tree) write(into *layerWriter) error {
	err := filepath.WalkDir(t.Source, func(source string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		below, err := filepath.Rel(t.Source, source)
		if err != nil {
			return err
		}
		target := path.Join(t.Path, filepath.ToSlash(below))
		if t.Omit != nil && t.Omit(target) {
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		return copyEntry(into, source, target, entry)
	})
	if err != nil {
		return fmt.Errorf("copy tree %q: %w", t.Source, err)
	}
	return nil
}

// copyEntry copies a file, a folder or a link. It omits entries of other kinds.
func copyEntry(into *layerWriter, source, target string, entry fs.DirEntry) error {
	info, err := entry.Info()
	if err != nil {
		return err
	}
	mode := info.Mode().Perm() | 0o444
	if mode&0o100 != 0 {
		mode |= 0o111
	}
	switch {
	case entry.IsDir():
		return Directory{Path: target, Mode: mode}.write(into)
	case entry.Type() == fs.ModeSymlink:
		points, err := os.Readlink(source)
		if err != nil {
			return err
		}
		return Link{Path: target, Target: points}.write(into)
	case entry.Type().IsRegular():
		return File{Source: source, Path: target, Mode: mode}.write(into)
	default:
		return nil
	}
}

func tarMode(mode fs.FileMode) int64 {
	bits := int64(mode.Perm())
	if mode&fs.ModeSticky != 0 {
		bits |= 0o1000
	}
	return bits
}

// layerWriter writes a tar stream. Every path occurs only once, after its parents, and all entries have the same
// modification time.
type layerWriter struct {
	tar   *tar.Writer
	known map[string]bool
}

// add writes one entry. If there are several entries for a path, it writes only the first.
func (w *layerWriter) add(target string, header *tar.Header, content io.Reader) error {
	target = strings.Trim(path.Clean(target), "/")
	if target == "" || target == "." || w.known[target] {
		return nil
	}
	if parent := path.Dir(target); parent != "." && !w.known[parent] {
		if err := w.add(parent, &tar.Header{Typeflag: tar.TypeDir, Mode: 0o755, Uid: root, Gid: root}, nil); err != nil {
			return err
		}
	}
	w.known[target] = true
	header.Name, header.ModTime, header.Format = target, time.Unix(0, 0), tar.FormatPAX
	if header.Typeflag == tar.TypeDir {
		header.Name += "/"
	}
	if err := w.tar.WriteHeader(header); err != nil {
		return fmt.Errorf("write %q: %w", target, err)
	}
	if content == nil {
		return nil
	}
	if _, err := io.Copy(w.tar, content); err != nil {
		return fmt.Errorf("write %q: %w", target, err)
	}
	return nil
}
