//go:build server

package external

import (
	"archive/zip"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

// with returns a stack with the provider that answers chat requests. The provider's image also contains the given
// wheel.
func with(wheel Wheel) badInput {
	return badInput{providers: []provider{from(New(EchoSpec(), EchoWheel(), Words(), wheel))}}
}

// extra returns an additional wheel.
func extra() Wheel {
	return Wheel{Name: "acme-extra", Version: "1.0", Files: map[string]string{"acme_extra.py": "1\n"}}
}

// badWheels returns images whose wheels cannot be installed.
func badWheels() map[string]badInput {
	at := func(path, content string) badInput {
		return badInput{providers: []provider{from(Echo().With(path, content))}}
	}
	change := func(change func(*Wheel)) badInput {
		w := extra()
		change(&w)
		return with(w)
	}
	newer := Words()
	newer.Version = "3.0"
	return map[string]badInput{
		"wheel: no wheels":                       {providers: []provider{from(Image{SpecFile: Spec{API: "inference", Type: EchoType, Module: EchoModule}.YAML()})}},
		"wheel: the provider's wheel is missing": {providers: []provider{from(New(EchoSpec(), Words()))}},
		"wheel: a link out of the image":         at(extra().Path(), Link("/etc/hostname")),
		"wheel: a link within the image":         at("packages/acme_words-2.2-py3-none-any.whl", Link(Words().FileName())),
		"wheel: a directory":                     at(extra().Path()+"/x", ""),
		"wheel: in a linked directory": {providers: []provider{from(New(Spec{
			API: "inference", Type: EchoType, Module: EchoModule, Wheel: "linked/" + EchoWheel().FileName(),
		}, EchoWheel(), Words()).With("linked", Link("packages")))}},
		"wheel: an invalid file name":      at("packages/acme.whl", extra().Content()),
		"wheel: for another Python":        change(func(w *Wheel) { w.Tag = "cp27-cp27mu-manylinux1_x86_64" }),
		"wheel: for another machine":       change(func(w *Wheel) { w.Tag = "py3-none-macosx_11_0_arm64" }),
		"wheel: needs a newer Python":      change(func(w *Wheel) { w.Python = ">=3.99" }),
		"wheel: two versions in one image": with(newer),
		"wheel: another name inside": change(func(w *Wheel) {
			w.Raw = []Entry{{Name: w.Info() + "/METADATA", Content: "Name: other\nVersion: 1.0\n"}}
		}),
		"wheel: another version inside": change(func(w *Wheel) {
			w.Raw = []Entry{{Name: w.Info() + "/METADATA", Content: "Name: acme.extra\nVersion: 1.1\n"}}
		}),
		"wheel: a newer format": change(func(w *Wheel) {
			w.Raw = []Entry{{Name: w.Info() + "/WHEEL", Content: "Wheel-Version: 2.0\n"}}
		}),
		"wheel: an invalid requirement": change(func(w *Wheel) { w.Requires = []string{"acme >= >="} }),
		"wheel: a changed file":         change(func(w *Wheel) { w.Raw = []Entry{{Name: "acme_extra.py", Content: "2\n"}} }),
		"wheel: an unlisted file":       change(func(w *Wheel) { w.Raw = []Entry{{Name: "acme_more.py", Content: "1\n"}} }),
		"wheel: a weak hash": change(func(w *Wheel) {
			w.Raw = []Entry{{Name: w.Info() + "/RECORD", Content: "acme_extra.py,md5=sNqLtyTVkomPb5l8mOMhCg,2\n"}}
		}),
		"wheel: a file in place of a directory": change(func(w *Wheel) { w.Files = map[string]string{"acme": "1\n"} }),
	}
}

// badArchives returns wheels that are damaged or dangerous to unpack.
func badArchives() map[string]badInput {
	entry := func(name, content string, mode os.FileMode) badInput {
		w := extra()
		w.Raw = []Entry{{Name: name, Content: content, Mode: mode}}
		return with(w)
	}
	content := func(change func(string) string) badInput {
		return badInput{providers: []provider{from(Echo().With(extra().Path(), change(extra().Content())))}}
	}
	many := make([]Entry, 20_001)
	for i := range many {
		many[i] = Entry{Name: fmt.Sprintf("acme/f%d.py", i)}
	}
	return map[string]badInput{
		"archive: not a zip file":         content(func(string) string { return "no zip" }),
		"archive: truncated at the end":   content(func(text string) string { return text[:len(text)/2] }),
		"archive: truncated at the start": content(func(text string) string { return text[len(text)/2:] }),
		"archive: a wrong checksum": content(func(text string) string {
			return strings.Replace(text, "acme_extra.py", "acme_extra.pz", 1)
		}),
		"archive: no .dist-info": content(func(string) string { return Zip([]Entry{{Name: "acme_extra.py"}}) }),
		"archive: no METADATA": content(func(string) string {
			return Zip([]Entry{{Name: extra().Info() + "/WHEEL", Content: "Wheel-Version: 1.0\n"}})
		}),
		"archive: two .dist-info":              entry("other-1.0.dist-info/METADATA", "", 0o644),
		"archive: a parent path":               entry("../../outside", "x", 0o644),
		"archive: a parent path within a path": entry("acme/../../../outside", "x", 0o644),
		"archive: an absolute path":            entry("/outside", "x", 0o644),
		"archive: a backslash":                 entry(`..\outside`, "x", 0o644),
		"archive: a link":                      entry("acme_link", "../../outside", os.ModeSymlink|0o777),
		"archive: a device":                    entry("acme_device", "", os.ModeDevice|0o644),
		"archive: a duplicate entry": {providers: []provider{from(Echo().With(extra().Path(), Zip([]Entry{
			{Name: "acme_extra.py", Content: "1"}, {Name: "acme_extra.py", Content: "2"},
		})))}},
		"archive: too many entries":         {providers: []provider{from(Echo().With(extra().Path(), Zip(many)))}},
		"archive: a high compression ratio": entry("acme_zeros", strings.Repeat("\x00", 65<<20), 0o644),
		"archive: a second list of entries": content(func(text string) string {
			end := strings.LastIndex(text, "PK\x05\x06")
			return text[:end] + "PK\x06\x07" + strings.Repeat("\x00", 16) + text[end:]
		}),
		"archive: larger than the volume": {
			providers: []provider{from(Echo())},
			prepare: func(t *testing.T, v *volume) {
				for _, name := range []string{"acme-huge", "acme-large"} {
					w := Wheel{Name: name, Version: "1.0"}
					writeFile(t, filepath.Join(v.dir, "images", "0", w.Path()), huge(w))
				}
			},
		},
	}
}

// huge returns a wheel whose header gives an unpacked size of 3 GiB.
func huge(w Wheel) string {
	const packed = 33 << 20
	content := w.Content()
	reader, err := zip.NewReader(strings.NewReader(content), int64(len(content)))
	if err != nil {
		panic(fmt.Sprintf("external: read archive: %v", err)) // the function Content wrote the archive, so it is valid
	}
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	for _, file := range reader.File {
		if err := archive.Copy(file); err != nil {
			panic(fmt.Sprintf("external: copy %q: %v", file.Name, err)) // writes to a buffer do not fail
		}
	}
	raw, err := archive.CreateRaw(&zip.FileHeader{
		Name: "acme/model.bin", Method: zip.Deflate, CompressedSize64: packed,
		UncompressedSize64: 3 << 30,
	})
	if err == nil {
		_, err = raw.Write(make([]byte, packed))
	}
	if err != nil {
		panic(fmt.Sprintf("external: write archive: %v", err)) // writes to a buffer do not fail
	}
	if err := archive.Close(); err != nil {
		panic(fmt.Sprintf("external: close archive: %v", err)) // writes to a buffer do not fail
	}
	return out.String()
}

// badPackages returns images with wheels that conflict with each other or with the server.
func badPackages(rel *release.Release) map[string]badInput {
	requires := func(requirements ...string) badInput {
		w := EchoWheel()
		w.Requires = requirements
		return badInput{providers: []provider{from(New(EchoSpec(), w, Words()))}}
	}
	old := Words()
	old.Version = "1.4"
	older := New(EchoSpec(), EchoWheel(), old)
	unconcerned := EchoWheel()
	unconcerned.Requires = nil
	var many []string
	for i := range 9 {
		many = append(many, fmt.Sprintf("acme-lacks%d", i))
	}
	pydantic := Wheel{Name: "pydantic", Version: "1.10.0", Files: map[string]string{"pydantic/__init__.py": ""}}
	return map[string]badInput{
		"packages: a missing dependency": requires("acme-words", "kubernetes==0.0.1",
			`windows-only; sys_platform == "win32"`),
		"packages: an older dependency in the server": requires("acme-words>=2", "pydantic>=99"),
		"packages: an older dependency in the image":  {providers: []provider{from(older)}},
		"packages: many missing dependencies":         requires(many...),
		"packages: for another release":               requires(rel.Package + "==0.0.1"),
		"packages: two versions of a package": {providers: []provider{
			echo(),
			from(New(EchoSpec(), unconcerned, old)).second(),
		}},
		"packages: another release": with(Wheel{
			Name: "llama-stack", Version: "0.0.1",
			Files: map[string]string{"x.py": ""},
		}),
		"packages: another server": with(Wheel{
			Name: "ogx", Version: "0.0.1",
			Files: map[string]string{"x.py": ""},
		}),
		"packages: a conflict with a package of the server": with(pydantic),
		"packages: the API of another server": with(Wheel{
			Name: "ogx-api", Version: "0.0.1",
			Files: map[string]string{"x.py": ""},
		}),
	}
}
