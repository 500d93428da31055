"""Hooks of MkDocs for the documentation site.

Pages link to files of the repository outside of docs/, because readers of the Markdown can follow such links. On the
site, these links lead to the repository. After the build, a check fails if a page loads anything from another host,
because the site must work without internet access.
"""

import posixpath
import re
from pathlib import Path

# A link or an image of Markdown: the text before the target, the target, and an anchor.
LINK = re.compile(r"(\]\()([^)\s#:]+)((?:#[^)\s]*)?\))")
FENCE = re.compile(r"^(```.*?^```$)", re.MULTILINE | re.DOTALL)
MISSING = "the link {target!r} of {page} leads to a file that does not exist"


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

    # Only text outside of code blocks has links.
    parts = FENCE.split(markdown)
    return "".join(part if part.startswith("```") else LINK.sub(replace, part) for part in parts)


# Elements that a browser loads without a click.
LOADED = re.compile(r"<(?:script|img|iframe)\b[^>]*\bsrc=[\"']?(?:https?:)?//|"
                    r"<link\b(?=[^>]*\brel=[\"']?(?:stylesheet|preload|preconnect|icon))[^>]*\bhref=[\"']?(?:https?:)?//")


def on_post_build(config, **_):
    """Fails if a page of the site loads a file from another host."""
    site = Path(config["site_dir"])
    for page in sorted(site.rglob("*.html")):
        if found := LOADED.search(page.read_text(encoding="utf-8")):
            raise ValueError(f"{page.relative_to(site)} loads a file from another host: {found[0]}")
