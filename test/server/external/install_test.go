//go:build server

package external

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestInstall installs the provider that answers chat requests. It checks the output and the installed files, and that
// a second volume receives the same files.
func TestInstall(t *testing.T) {
	eachRelease(t, func(t *testing.T, in interpreter) {
		v := in.volume(t, echo())
		const want = "external providers: echo acme-echo 1.0\nexternal providers: echo acme-words 2.1\n"
		if diff := cmp.Diff(want, v.mustInstall(t)); diff != "" {
			t.Errorf("output (-want +got):\n%s", diff)
		}
		got := slices.Sorted(maps.Keys(v.tree(t)))
		files := []string{
			"config/config.yaml", "installed-packages.txt", "installed.json", "metadata/echo/lls-provider-spec.yaml",
			"python-packages/acme/echo/__init__.py", "python-packages/acme/echo/provider.py",
			"python-packages/acme_echo-1.0.dist-info/METADATA", "python-packages/acme_echo-1.0.dist-info/RECORD",
			"python-packages/acme_echo-1.0.dist-info/WHEEL", "python-packages/acme_words-2.1.dist-info/METADATA",
			"python-packages/acme_words-2.1.dist-info/RECORD", "python-packages/acme_words-2.1.dist-info/WHEEL",
			"python-packages/acme_words.py",
		}
		if diff := cmp.Diff(files, got); diff != "" {
			t.Errorf("files (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff("echo acme-echo 1.0\necho acme-words 2.1\n", v.read(t, "installed-packages.txt")); diff != "" {
			t.Errorf("installed packages (-want +got):\n%s", diff)
		}
		again := in.volume(t, echo())
		again.mustInstall(t)
		if diff := cmp.Diff(v.tree(t), again.tree(t)); diff != "" {
			t.Errorf("a second volume differs (-first +second):\n%s", diff)
		}
	})
}

// TestRunsTwice checks that the program's container can run again: after a success, after a failure, and after the
// other init containers have also run again.
func TestRunsTwice(t *testing.T) {
	eachRelease(t, func(t *testing.T, in interpreter) {
		v := in.volume(t, echo())
		v.mustInstall(t)
		before := v.tree(t)
		v.mustInstall(t)
		if diff := cmp.Diff(before, v.tree(t)); diff != "" {
			t.Errorf("after the second run (-first +second):\n%s", diff)
		}
		v.copy(t)
		writeFile(t, filepath.Join(v.dir, "python-packages", "left.py"), "")
		v.mustInstall(t)
		if diff := cmp.Diff(before, v.tree(t)); diff != "" {
			t.Errorf("after all containers ran again (-first +second):\n%s", diff)
		}

		broken := in.volume(t, from(Echo().With(Words().Path(), "no zip")))
		if refused, _ := broken.install(t); refused == nil {
			t.Fatal("the program installed a broken wheel")
		}
		broken.providers[0].image = Echo()
		broken.copy(t)
		broken.mustInstall(t)
		if diff := cmp.Diff(before, broken.tree(t)); diff != "" {
			t.Errorf("after a failure (-first +second):\n%s", diff)
		}
	})
}

// TestConfiguration checks that the program replaces an unknown type in the configuration with the provider's type,
// sets the provider's module, and changes nothing else.
func TestConfiguration(t *testing.T) {
	const entry = "# ä\nproviders:\n  safety: []\n  inference:\n  - provider_id: first\n    provider_type: remote::vllm\n"
	unlabeled, labeled := echo(), echo().labeled(EchoType, EchoModule)
	tests := map[string]struct {
		provider     provider
		config, want string
	}{
		"labeled": {
			labeled,
			"providers:  # as it is\n  inference: [{provider_id: echo, provider_type: 'remote::acme-echo', module: acme.echo}]\r\n",
			"providers:  # as it is\n  inference: [{provider_id: echo, provider_type: 'remote::acme-echo', module: acme.echo}]\r\n",
		},
		"block style": {
			unlabeled,
			entry + "  - config:\n      n: 0x1F  # kept\n    provider_id: echo\n    provider_type: external::unknown # why\nlast: on\n",
			entry + "  - config:\n      n: 0x1F  # kept\n    provider_id: echo\n    provider_type: \"remote::acme-echo\"\n    module: \"acme.echo\" # why\nlast: on\n",
		},
		"flow style": {
			unlabeled,
			"providers: {inference: [{provider_type: 'external::unknown', provider_id: echo}]}",
			"providers: {inference: [{provider_type: \"remote::acme-echo\", module: \"acme.echo\", provider_id: echo}]}",
		},
		"an entry with a module": {
			unlabeled,
			"providers:\n  inference:\n    - module: old\n      provider_type: external::unknown\n      provider_id: echo\n",
			"providers:\n  inference:\n    - module: \"acme.echo\"\n      provider_type: \"remote::acme-echo\"\n      provider_id: echo\n",
		},
		"the type is the first key": {
			unlabeled,
			"providers:\n  inference:\n  - provider_type: external::unknown\r\n    provider_id: echo\r\n",
			"providers:\n  inference:\n  - provider_type: \"remote::acme-echo\"\n    module: \"acme.echo\"\r\n    provider_id: echo\r\n",
		},
	}
	eachReleaseAgain(t, func(t *testing.T, in interpreter) {
		for name, test := range tests {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				in.once(t, func() { in.checkConfiguration(t, test.provider, test.config, test.want) })
			})
		}
	})
}

// checkConfiguration installs a provider with a configuration, and compares the configuration that the program writes.
func (in interpreter) checkConfiguration(t *testing.T, p provider, config, want string) {
	t.Helper()
	v := in.volume(t, p)
	writeFile(t, v.config, config)
	writeFile(t, filepath.Join(filepath.Dir(v.config), "beside.txt"), "beside")
	writeFile(t, filepath.Join(filepath.Dir(v.config), "..hidden"), "")
	v.mustInstall(t)
	if diff := cmp.Diff(want, v.read(t, "config/config.yaml")); diff != "" {
		t.Errorf("configuration (-want +got):\n%s", diff)
	}
	if got := v.read(t, "config/beside.txt"); got != "beside" {
		t.Errorf("the other file in the directory of the configuration contains %q", got)
	}
	if entries, err := os.ReadDir(filepath.Join(v.dir, "config")); err != nil || len(entries) != 2 {
		t.Errorf("the directory contains %v (%v), want two files", entries, err)
	}
}

// wheelCase is a case of TestWheels.
type wheelCase struct {
	image    Image
	present  map[string]string
	absent   []string
	manifest string
}

// TestWheels checks which wheels and which files the program installs.
func TestWheels(t *testing.T) {
	spec := EchoSpec()
	spec.Wheel = ""
	native := func(tag, word string) Wheel {
		w := Words()
		w.Tag, w.Files = tag, map[string]string{"acme_words.py": "WORD = '" + word + "'\n"}
		return w
	}
	data := Words()
	data.Files = map[string]string{
		"acme_words-2.1.data/purelib/acme_words.py": "WORD = 'pure'\n", "acme_words-2.1.data/platlib/acme_more.py": "",
		"acme_words-2.1.data/scripts/acme": "#!python\n", "acme_words-2.1.data/headers/acme.h": "",
		"acme_words-2.1.data/data/x": "",
	}
	wheels := Words()
	wheels.Raw = []Entry{{Name: "acme_more/", Mode: 0o755 | os.ModeDir}}
	tests := map[string]wheelCase{
		"the best wheel for this machine": {
			image: New(spec, EchoWheel(), native("py3-none-any", "any"), native("cp36-abi3-manylinux_2_17_x86_64.manylinux_2_17_aarch64", "native"),
				native("cp27-cp27m-win32", "none")),
			present: map[string]string{"acme_words.py": "WORD = 'native'\n"},
		},
		"only purelib and platlib": {
			image:   New(spec, EchoWheel(), data),
			present: map[string]string{"acme_words.py": "WORD = 'pure'\n", "acme_more.py": ""},
			absent:  []string{"acme_words-2.1.data", "x", "scripts", "headers"},
		},
		"entries for directories": {image: New(spec, EchoWheel(), wheels), present: map[string]string{"acme_words.py": Words().Files["acme_words.py"]}},
		"only the wheels in the metadata file": {
			image: New(Spec{API: "inference", Type: EchoType, Module: EchoModule, Wheel: "/lls-provider/" + EchoWheel().Path(), Others: []string{Words().Path()}},
				EchoWheel(), Words(), Wheel{Name: "left-out", Version: "1", Files: map[string]string{"left_out.py": ""}}),
			absent: []string{"left_out.py"},
		},
		"get_provider_spec in the package itself": {
			image: New(spec, Wheel{Name: "acme-echo", Version: "1", Files: map[string]string{
				"acme/echo/__init__.py": "from .other import get_provider_spec\n", "acme/echo/other.py": Source("provider.py"),
			}}),
			present: map[string]string{"acme/echo/provider.py": `"""Created when the package was installed, because the server imports the function from this module."""

from acme.echo import get_provider_spec

__all__ = ["get_provider_spec"]
`},
		},
		"a package that the server has": {
			image: New(spec, EchoWheel(), Words(), Wheel{
				Name: "PyYAML", Version: "SERVER",
				Files: map[string]string{"yaml/__init__.py": "1/0"},
			}),
			absent:   []string{"yaml"},
			manifest: "echo acme-echo 1.0\necho acme-words 2.1\necho pyyaml SERVER (the server has it)\n",
		},
		"a package that the server has in another version": {
			image: New(spec, EchoWheel(), Words(), Wheel{
				Name: "certifi", Version: "2099.1.1",
				Files: map[string]string{"certifi.py": ""},
			}),
			present:  map[string]string{"certifi.py": ""},
			manifest: "echo acme-echo 1.0\necho acme-words 2.1\necho certifi 2099.1.1\n",
		},
	}
	eachReleaseAgain(t, func(t *testing.T, in interpreter) {
		yaml := in.version(t, "PyYAML")
		for name, test := range tests {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				in.once(t, func() { test.check(t, in, yaml) })
			})
		}
	})
}

func (test wheelCase) check(t *testing.T, in interpreter, yaml string) {
	t.Helper()
	image := Image{}
	for path, content := range test.image {
		if strings.Contains(path, "SERVER") {
			w := Wheel{Name: "PyYAML", Version: yaml, Files: map[string]string{"yaml/__init__.py": "1/0"}}
			path, content = w.Path(), w.Content()
		}
		image[path] = content
	}
	v := in.volume(t, from(image))
	v.mustInstall(t)
	for path, want := range test.present {
		if diff := cmp.Diff(want, v.read(t, "python-packages/"+path)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
	for _, path := range test.absent {
		if _, err := os.Stat(filepath.Join(v.dir, "python-packages", path)); err == nil {
			t.Errorf("%s is installed", path)
		}
	}
	if want := strings.ReplaceAll(test.manifest, "SERVER", yaml); want != "" &&
		want != v.read(t, "installed-packages.txt") {
		t.Errorf("the installed packages are %q, want %q", v.read(t, "installed-packages.txt"), want)
	}
}

// TestTwoProviders checks how the program installs files and packages that two providers share.
func TestTwoProviders(t *testing.T) {
	words := Words()
	words.Files = map[string]string{"acme_words.py": "WORD = 'world'\n", "tests.py": "second"}
	other := EchoWheel()
	other.Name, other.Files = "acme-other", map[string]string{
		"acme/other/__init__.py": "", "acme/other/provider.py": "def get_provider_spec():\n    pass\n",
		"acme_words.py": "WORD = 'mine'\n",
	}
	second := from(New(Spec{API: "inference", Type: "remote::acme-other", Module: "acme.other"}, other, words)).second()
	eachRelease(t, func(t *testing.T, in interpreter) {
		v := in.volume(t, echo(), second)
		output := v.mustInstall(t)
		const want = "external providers: acme_words.py of acme-other 1.0 (provider \"other\" (example.com/other:1)) is left out: another package has a file with this name\n"
		if !strings.HasPrefix(output, want) {
			t.Errorf("the program prints %q, want it to begin with %q", output, want)
		}
		if diff := cmp.Diff(`echo acme-echo 1.0
echo acme-words 2.1
other acme-other 1.0
other acme-words 2.1 (of an earlier provider)
`, v.read(t, "installed-packages.txt")); diff != "" {
			t.Errorf("installed packages (-want +got):\n%s", diff)
		}
		for _, want := range []string{"provider_id: echo\n    provider_type: \"remote::acme-echo\"\n    module: \"acme.echo\"\n", "provider_id: other\n    provider_type: \"remote::acme-other\"\n    module: \"acme.other\"\n"} {
			if got := v.read(t, "config/config.yaml"); !strings.Contains(got, want) {
				t.Errorf("the configuration does not contain %q:\n%s", want, got)
			}
		}

		twice := in.volume(t, echo(), echo().second())
		twice.mustInstall(t)
		for _, id := range []string{"echo", "other"} {
			if twice.read(t, "metadata/"+id+"/lls-provider-spec.yaml") != EchoSpec().YAML() {
				t.Errorf("the metadata file of %s has changed", id)
			}
		}
	})
}
