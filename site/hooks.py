"""Hooks of MkDocs for the documentation site.

Pages link to files of the repository outside of docs/, because readers of the Markdown can follow such links. On the
site, these links lead to the repository. Links to the published playground lead to the playground of the same version.
After the build, a check fails if a page loads anything from another host, because the site must work without internet
access. The search finds other words for a page, parts of names such as OOMKilled, and words in other forms.
"""

import json
import posixpath
import re
import shutil
from pathlib import Path

import yaml

# A link or an image of Markdown: the text before the target, the target, and an anchor.
LINK = re.compile(r"(\]\()([^)\s#:]+)((?:#[^)\s]*)?\))")
FENCE = re.compile(r"^(```.*?^```$)", re.MULTILINE | re.DOTALL)
# A link to the published playground, with its text.
PLAYGROUND = re.compile(r"\[([^\]]+)\]\(https://llamastack\.github\.io/llama-stack-k8s-operator/latest/playground/\)")
MISSING = "the link {target!r} of {page} refers to a file that does not exist; correct the link"


def on_page_markdown(markdown, page, config, **_):
    """Replaces links to files outside of docs/ with links to the repository."""
    root = Path(config["docs_dir"]).parent
    folder = posixpath.dirname(posixpath.join("docs", page.file.src_uri))

    def replace(match):
        target = posixpath.normpath(posixpath.join(folder, match[2]))
        if target.startswith("docs/"):
            return match[0]
        path = root / target
        if target.startswith("..") or not path.exists():
            raise ValueError(MISSING.format(target=match[2], page=page.file.src_uri))
        kind = "tree" if path.is_dir() else "blob"
        return f"{match[1]}{config['repo_url']}/{kind}/main/{target}{match[3]}"

    if page.is_homepage:  # the first view needs the whole width
        page.meta["hide"] = ["navigation", "toc"]
    up = "../" * page.url.count("/")

    def relink(text):
        return PLAYGROUND.sub(rf'<a href="{up}playground/">\1</a>', LINK.sub(replace, text))

    # Links occur only outside of code blocks.
    parts = FENCE.split(markdown)
    return "".join(part if part.startswith("```") else relink(part) for part in parts)


# The theme makes each section of the navigation a landmark, which screen readers list, and does not label its search.
NAV = re.compile(r"<nav\b[^>]*>|</nav>")
SEARCH = '<div class="md-search" data-md-component="search" role="dialog"'
# In the theme's script: the frame of a copy button is not navigation, and the name of the button with the version contains
# its text.
ACCESSIBLE = [(r'"nav",(?=\{class:"md-code__nav"\})', '"div",'),
              (r'(?<=class:"md-version__current",)"aria-label"(?=:)', "title")]


def on_post_page(output, **_):
    """Makes the sections of the navigation groups, and labels the search."""
    sections = []

    def group(match):
        if match[0] == "</nav>":
            return "</div>" if sections.pop() else match[0]
        sections.append(bool(re.search(r'data-md-level="[1-9]', match[0])))
        return re.sub(r"^<nav|aria-expanded=\S+?(?=>)", lambda m: '<div role="group"' if m[0] == "<nav" else "",
                      match[0]) if sections[-1] else match[0]

    return NAV.sub(group, output).replace(SEARCH, SEARCH + ' aria-label="Search"')


# Elements that a browser loads without a click.
LOADED = re.compile(r"<(?:script|img|iframe)\b[^>]*\bsrc=[\"']?(?:https?:)?//|"
                    r"<link\b(?=[^>]*\brel=[\"']?(?:stylesheet|preload|preconnect|icon))[^>]*\bhref=[\"']?(?:https?:)?//")


# Names such as CrashLoopBackOff or LLAMA_STACK_LOGGING. The index contains their parts, and here the whole names.
NAME = re.compile(r"\b(?:[A-Za-z]*[a-z0-9][A-Z]|[A-Z]{2,}[a-z]|[A-Za-z]+(?:_|\.[a-z]))[A-Za-z0-9_./]*\b")

# In the theme's worker: the comparison that finds the words of a question that a page lacks. The words of the index are
# stems, and the words of the question are not.
MISSES = r"(\w+\[\w+\])\.startsWith\((\w+\.term)\)"


def improve_search(site, root):
    """Adds weights, other words and whole names to the search index, and stems the words of questions."""
    rules = yaml.safe_load((root / "site" / "search.yaml").read_text(encoding="utf-8"))
    path = site / "search" / "search_index.json"
    index = json.loads(path.read_text(encoding="utf-8"))
    index["config"]["fields"] |= {"names": {"boost": 100}, "also": {"boost": 10000}}
    pages = {entry["location"]: entry for entry in index["docs"]}
    for page, words in rules["also"].items():
        pages[page]["also"] = words.split()
    for location, entry in pages.items():
        entry["boost"] = next((weight for prefix, weight in rules["weights"].items() if location.startswith(prefix)), 1)
        if names := sorted({name.lower().strip("./") for name in NAME.findall(entry["title"] + " " + entry["text"])}):
            entry["names"] = names
    path.write_text(json.dumps(index, separators=(",", ":")), encoding="utf-8")
    for worker in (site / "assets" / "javascripts" / "workers").glob("search.*.js"):
        text = replace_once(worker, MISSES, r"\1.startsWith(lunr.stemmer(new lunr.Token(\2)).toString())")
        worker.write_text(text + (root / "site" / "search.js").read_text(encoding="utf-8"), encoding="utf-8")


def replace_once(path, pattern, replacement):
    """Returns the text of a script of the theme with the only match replaced."""
    text, count = re.subn(pattern, replacement, path.read_text(encoding="utf-8"))
    if count != 1:
        raise ValueError(f"{path.name} of the theme has {count} matches of {pattern}; correct the hook")
    return text


def on_post_build(config, **_):
    """Adds the playground and the schemas, and fails if a page of the site loads a file from another host."""
    site, root = Path(config["site_dir"]), Path(config["docs_dir"]).parent
    improve_search(site, root)
    # `make site` writes these folders.
    for folder in (root / ".cache" / "playground", root / "schemas"):
        if folder.is_dir():
            shutil.copytree(folder, site / folder.name, dirs_exist_ok=True)
    for bundle in (site / "assets" / "javascripts").glob("bundle.*.js"):
        for pattern, replacement in ACCESSIBLE:
            bundle.write_text(replace_once(bundle, pattern, replacement), encoding="utf-8")
    for page in sorted(site.rglob("*.html")):
        if found := LOADED.search(page.read_text(encoding="utf-8")):
            raise ValueError(f"{page.relative_to(site)} loads a file from another host: {found[0]}")
