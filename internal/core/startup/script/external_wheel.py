"""Reads a wheel, its metadata and its files. No content of a wheel is trusted."""

import base64
import email.parser
import errno
import hashlib
import os
import stat
import zipfile
import zlib

from external_package import DIRECTORY

MAX_ENTRIES = 20_000
MAX_DIRECTORY = 32 << 20  # of the list of entries, which is read as a whole
MAX_TEXT = 16 << 20  # of a file with metadata
MAX_UNPACKED = 4 << 30  # of all wheels together
MAX_RATIO, FREE_RATIO = 100, 64 << 20  # the ratio of unpacked to packed size; the size that is always allowed
HASHES = ("sha256", "sha384", "sha512")
BAD = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, UnicodeError, ValueError, KeyError, RuntimeError)


class Wheel:
    """A wheel of a provider. `name`, `version` and `tags` are from the file name."""

    def __init__(self, provider, path, packaging):
        self.provider, self.path, self.packaging = provider, path, packaging
        self.place = provider.file(path)
        self.file_name = os.path.basename(path)
        try:
            self.name, self.version, _, self.tags = packaging.utils.parse_wheel_filename(self.file_name)
        except ValueError:
            self.refuse("does not have the name of a wheel: NAME-VERSION-PYTHON-ABI-PLATFORM.whl")

    def __str__(self):
        return f"{self.name} {self.version}"

    def refuse(self, text):
        self.provider.refuse(f"The wheel {DIRECTORY}/{self.path} of {self.provider} {text}.")

    def open(self):
        """Reads the wheel's metadata and checks its entries against the limits."""
        try:
            self._check_end()
            with zipfile.ZipFile(self.place) as archive:
                self._check_entries(archive)
                self._read_metadata(archive)
        except (*BAD, OSError) as error:
            self.refuse(f"is broken ({type(error).__name__}): build it again")

    def _check_end(self):
        """Checks the size of the list of entries in the record at the end of the file."""
        with open(self.place, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            file.seek(max(0, size - 65_557))
            tail = file.read()
        at = tail.rfind(b"PK\5\6")
        if at < 0 or len(tail) < at + 22:
            self.refuse("is not a zip archive: build it again")
        entries, directory = (int.from_bytes(tail[at + a:at + b], "little") for a, b in ((10, 12), (12, 16)))
        if entries > MAX_ENTRIES or directory > MAX_DIRECTORY or tail[max(0, at - 20):at].startswith(b"PK\6\7"):
            self.refuse(f"has more than the {MAX_ENTRIES} files that a wheel may have")

    def _check_entries(self, archive):
        """Checks the name and the kind of each entry, and the unpacked size."""
        self.size, seen = 0, set()
        for info in archive.infolist():
            name = info.filename
            parts = name.rstrip("/").split("/")
            if name.startswith("/") or "\\" in name or {"", ".", ".."} & set(parts) or len(name) > 1024:
                self.refuse(f'has the entry "{name[:128]}", which is outside the wheel: build it again')
            kind = stat.S_IFMT(info.external_attr >> 16)
            if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
                self.refuse(f'has the entry "{name[:128]}", which is a link or a device: replace it with a file')
            if name in seen:
                self.refuse(f'has the entry "{name[:128]}" twice: build it again')
            seen.add(name)
            self.size += info.file_size
        packed = os.path.getsize(self.place)
        if len(seen) > MAX_ENTRIES:
            self.refuse(f"has more than the {MAX_ENTRIES} files that a wheel may have")
        if self.size > max(MAX_RATIO * packed, FREE_RATIO):
            self.refuse(f"has {packed} bytes, and would have {self.size} unpacked: this ratio is too high for a wheel. Build it "
                        "again")

    def _read_metadata(self, archive):
        """Reads METADATA, WHEEL and RECORD, and compares them with the wheel's name."""
        found = {name.split("/")[0] for name in archive.namelist() if name.split("/")[0].endswith(".dist-info")}
        if len(found) != 1:
            self.refuse("has no directory .dist-info, or several: build it again")
        self.info = found.pop()
        metadata = email.parser.HeaderParser().parsestr(self._text(archive, "METADATA"))
        kind = email.parser.HeaderParser().parsestr(self._text(archive, "WHEEL"))
        if not (kind["Wheel-Version"] or "").startswith("1."):
            self.refuse(f"is of version {str(kind['Wheel-Version'])[:32]} of the wheel format: only 1.x is supported. Build "
                        "it with another tool")
        said = f"{metadata['Name']} {metadata['Version']}"
        name = self.packaging.utils.canonicalize_name(metadata["Name"] or "")
        if name != self.name or self.packaging.version.Version(metadata["Version"] or "0") != self.version:
            self.refuse(f'has a different name than its METADATA, which has "{said[:128]}": build it again')
        self.requires_python = metadata["Requires-Python"] or ""
        self.requires = [self.packaging.requirements.Requirement(text) for text in metadata.get_all("Requires-Dist") or []]
        self._read_record(self._text(archive, "RECORD"))

    def _read_record(self, text):
        import csv
        self.record = {row[0]: row[1] for row in csv.reader(text.splitlines()) if len(row) == 3}

    def _text(self, archive, name):
        try:
            info = archive.getinfo(f"{self.info}/{name}")
        except KeyError:
            self.refuse(f"has no {name} in its {self.info}: build it again")
        if info.file_size > MAX_TEXT:
            self.refuse(f"has a {name} of {info.file_size} bytes, which exceeds the limit")
        return archive.read(info).decode()

    def runs_on(self, python):
        """Reports whether the wheel is for a version of Python."""
        try:
            pythons = self.packaging.requirements.Requirement("python" + self.requires_python).specifier
        except ValueError:
            return True  # an obsolete form that tools do not read
        return pythons.contains(python, prereleases=True)

    def extract(self, target):
        """Writes the files to a directory, and returns those that another wheel has written with other content."""
        kept = []
        try:
            with zipfile.ZipFile(self.place) as archive:
                for info in archive.infolist():
                    path = self._destination(info.filename)
                    if path and not info.is_dir() and not self._write(archive, info, os.path.join(target, path)):
                        kept.append(path)
        except BAD as error:
            self.refuse(f"is broken ({type(error).__name__}): build it again")
        except (IsADirectoryError, NotADirectoryError, FileExistsError) as error:
            path = os.path.relpath(error.filename, target)[:128]
            self.refuse(f'has "{path}" as a file where another wheel has a directory, or the reverse: remove one of '
                        "the two packages")
        except OSError as error:
            if error.errno == errno.EINVAL:  # a position before the start of the file
                self.refuse("is broken (OSError): build it again")
            raise
        return kept

    def _destination(self, name):
        """Returns the destination of a file, or None for programs, headers and data, which are not installed."""
        parts = name.split("/")
        if not parts[0].endswith(".data"):
            return name
        return "/".join(parts[2:]) if len(parts) > 2 and parts[1] in ("purelib", "platlib") else None

    def _write(self, archive, info, place):
        """Writes a new file and compares it with RECORD. Reports whether the file now has this content."""
        algorithm, _, expected = self.record.get(info.filename, "").partition("=")
        unsigned = info.filename in (f"{self.info}/{name}" for name in ("RECORD", "RECORD.jws", "RECORD.p7s"))
        if algorithm not in HASHES and not unsigned:
            self.refuse(f'has the file "{info.filename[:128]}", but its RECORD has no hash of this file: build it again')
        digest = hashlib.new(algorithm) if not unsigned else hashlib.sha256()
        os.makedirs(os.path.dirname(place), exist_ok=True)
        there = os.path.lexists(place)
        mode = 0o755 if info.external_attr >> 16 & 0o111 else 0o644
        descriptor = os.open(os.devnull if there else place, os.O_WRONLY | os.O_CREAT, mode)
        with archive.open(info) as source, open(descriptor, "wb") as sink:
            while block := source.read(1 << 20):
                digest.update(block)
                sink.write(block)
        if not unsigned and base64.urlsafe_b64encode(digest.digest()).rstrip(b"=").decode() != expected.rstrip("="):
            self.refuse(f'has the file "{info.filename[:128]}", but its RECORD has a different hash: build it again')
        return not there or _digest(place, digest.name) == digest.digest()


def _digest(path, algorithm):
    with open(path, "rb") as file:
        digest = hashlib.new(algorithm)
        while block := file.read(1 << 20):
            digest.update(block)
        return digest.digest()
