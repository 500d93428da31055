"""Reads the package of an external provider that an init container copied from its image."""

import os
import re
import stat

FILE = "lls-provider-spec.yaml"
DIRECTORY = "/lls-provider"
MAX_SIZE = 64 << 10
MAX_TEXT = 512
MAX_WHEELS = 256
MODULE = (re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", re.ASCII),
          "is not the name of a Python module: write it like my_org.custom_vllm")
TYPE = (re.compile(r"(remote|inline)(::[A-Za-z0-9][\w.-]*)+", re.ASCII),
        "is not a provider type: write remote:: or inline:: and a name, like remote::custom-vllm")
API = (re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", re.ASCII),
       "is not an API as the server writes it: write it like inference or vector_io")


class Refused(Exception):
    """The providers cannot be installed. The text has the reason and the remedy. `provider` caused the failure, or is None."""

    def __init__(self, text, provider=None):
        super().__init__(text)
        self.provider = provider


class Provider:
    """An external provider, with the facts from the operator and then the metadata of its image."""

    def __init__(self, entry, directory):
        self.api, self.id, self.image, self.path = (entry[key] for key in ("api", "id", "image", "path"))
        self.type, self.module = entry.get("type") or "", entry.get("module") or ""
        self.unknown = not (self.type and self.module)
        self.directory = os.path.join(os.path.realpath(directory), str(int(entry["index"])))
        self.wheel, self.others = "", None

    def __str__(self):
        return f'provider "{self.id}" ({self.image})'

    def refuse(self, text):
        """Ends the installation because of this provider."""
        raise Refused(text, self)

    def file(self, path):
        """Returns the path of a file of the image. The file must be a regular file, and no part of its path may be a link."""
        place = os.path.join(self.directory, path)
        linked = os.path.realpath(place) != place
        if not linked and not os.access(place, os.R_OK):
            self.refuse(f"The image {self.image} has no readable {DIRECTORY}/{path}. Add the file to the image.")
        if linked or not stat.S_ISREG(os.lstat(place).st_mode):
            self.refuse(f"{DIRECTORY}/{path} in image {self.image} is a link, or not a regular file. Replace it with "
                        "the file itself.")
        return place

    def read(self):
        """Reads the metadata file, and compares it with the facts from the operator."""
        if not os.path.lexists(os.path.join(self.directory, FILE)):
            self.refuse(f"Missing {DIRECTORY}/{FILE} in image {self.image}. Add the file to the image.")
        with open(self.file(FILE), "rb") as file:
            data = file.read(MAX_SIZE + 1)
        if len(data) > MAX_SIZE:
            self.refuse(f"{FILE}: has more than the {MAX_SIZE} bytes that it may have")
        spec = _Section(self, _compose(self, data), "")
        spec.must("apiVersion", "llamastack.io/v1alpha1")
        spec.must("kind", "ProviderPackage")
        metadata, spec = spec.section("metadata"), spec.section("spec")
        self.name, self.version, _ = (metadata.text(key) for key in ("name", "version", "vendor"))
        found = {"module": spec.text("packageName", MODULE), "type": spec.text("providerType", TYPE)}
        api = spec.text("api", API)
        self.wheel, self.others = spec.wheel("wheelPath"), spec.wheels("dependencyWheels")
        self._compare(api, found)

    def _compare(self, api, found):
        """Checks that the metadata matches the API in the spec, and the label of the image."""
        if api != self.api:
            words = re.sub("_([a-z0-9])", lambda match: match[1].upper(), api)
            section = re.sub(r"[^.]*$", "", re.sub(r"\[\d+\]$", "", self.path)) + words
            self.refuse(f'Provider "{self.id}" (image {self.image}) declares api={api} in {FILE}, but is at '
                        f"{self.path}. Move it to {section}.")
        for key, name in (("type", "providerType"), ("module", "packageName")):
            expected = getattr(self, key)
            if expected and expected != found[key]:
                self.refuse(f'The label of image {self.image} has {name} "{expected}", but its {FILE} has "{found[key]}": the '
                            "image has changed since the operator read the label, or the label is stale. Label the image again, "
                            "and name it by its digest.")
            setattr(self, key, found[key])

    def wheels(self):
        """Returns the paths of the wheels, the main wheel first: those in the metadata, or else all in packages."""
        if self.others is not None:
            named = [self.wheel] if self.wheel else []
            return list(dict.fromkeys(named + self.others))
        try:
            names = sorted(os.listdir(os.path.join(self.directory, "packages")))
        except OSError:
            names = []
        found = ["packages/" + name for name in names if name.endswith(".whl")]
        if self.wheel:
            found = list(dict.fromkeys([self.wheel, *found]))
        if not found:
            self.refuse(f"The image {self.image} has no wheel in {DIRECTORY}/packages. Add the wheels of the provider and of "
                        "the packages that it needs.")
        if len(found) > MAX_WHEELS:
            self.refuse(f"The image {self.image} has {len(found)} wheels in {DIRECTORY}/packages, more than {MAX_WHEELS}.")
        return found


def _compose(provider, data):
    """Returns the root node of the file. Deep nesting cannot end the process, because the parser is written in Python."""
    import yaml
    try:
        node = yaml.compose(data.decode(), Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        mark, why = getattr(error, "problem_mark", None), getattr(error, "problem", None) or getattr(error, "reason", None)
        where = f"line {mark.line + 1}: " if mark else ""
        provider.refuse(f"{FILE}: {where}the file is not valid YAML: {str(why)[:200]}")
    except (RecursionError, UnicodeDecodeError):
        provider.refuse(f"{FILE}: the file is not valid YAML: it is nested too deeply, or not in UTF-8")
    return node


class _Section:
    """A mapping of a metadata file."""

    def __init__(self, provider, node, path):
        import yaml
        self.provider, self.node, self.path, self.yaml = provider, node, path, yaml
        if not isinstance(node, yaml.MappingNode):
            self.fail(path.rstrip(".") or "the file", "must be a mapping")

    def fail(self, what, text, node=None):
        node = node or self.node
        line = f"line {node.start_mark.line + 1}: " if node is not None else ""
        self.provider.refuse(f"{FILE}: {line}{what} {text}")

    def get(self, key):
        """Returns the node of a key, or None if the key is missing or null."""
        for name, node in self.node.value:
            if name.value == key:
                return None if node.tag == "tag:yaml.org,2002:null" else node
        return None

    def section(self, key):
        return _Section(self.provider, self.get(key) or self.fail(self.path + key, "must be a mapping"), self.path + key + ".")

    def text(self, key, form=None):
        """Returns the text of a required field."""
        node = self.get(key)
        if node is None:
            self.fail(self.path + key, "is missing")
        return self._scalar(self.path + key, node, form)

    def _scalar(self, what, node, form=None):
        if not isinstance(node, self.yaml.ScalarNode) or not node.value or len(node.value) > MAX_TEXT:
            self.fail(what, f"must be a text of 1 to {MAX_TEXT} characters", node)
        if form and not form[0].fullmatch(node.value):
            self.fail(what, f'is "{node.value[:128]}", which {form[1]}', node)
        return node.value

    def must(self, key, want):
        if self.text(key) != want:
            self.fail(key, f'is "{self.text(key)[:128]}": it must be {want}', self.get(key))

    def wheel(self, key):
        node = self.get(key)
        return self._wheel(self.path + key, node) if node else ""

    def wheels(self, key):
        """Returns the paths in a list, or None if there is no list."""
        node = self.get(key)
        if node is None:
            return None
        if not isinstance(node, self.yaml.SequenceNode) or len(node.value) > MAX_WHEELS:
            self.fail(self.path + key, f"must be a list of at most {MAX_WHEELS} paths", node)
        return [self._wheel(f"{self.path}{key}[{i}]", item) for i, item in enumerate(node.value)]

    def _wheel(self, what, node):
        """Returns a path relative to the package's directory."""
        text = self._scalar(what, node)
        below = os.path.normpath(text.removeprefix(DIRECTORY + "/"))
        if os.path.isabs(below) or below.startswith("..") or not below.endswith(".whl"):
            self.fail(what, f'is "{text[:128]}", which is not the path of a wheel below {DIRECTORY}: write it like '
                      "packages/my_provider-1.0-py3-none-any.whl", node)
        return below
