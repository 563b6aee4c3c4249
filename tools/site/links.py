"""Hook of mkdocs: what GitHub reads otherwise. Links that lead out of docs/ go to the repository; a list may follow a line of text."""

import posixpath
import re

LINK = re.compile(r"\]\((\.\./[^)\s]+)\)")
LIST = re.compile(r"^(_[^\n]+_ ?)\n(?=- )", re.MULTILINE)


def on_page_markdown(markdown, page, config, **_):
    folder = posixpath.dirname("docs/" + page.file.src_uri)

    def rewrite(found):
        path, hash_mark, heading = found.group(1).partition("#")
        target = posixpath.normpath(posixpath.join(folder, path))
        if target.startswith("docs/"):
            return found.group(0)
        return "](%s/blob/main/%s%s%s)" % (config["repo_url"].rstrip("/"), target, hash_mark, heading)

    return LIST.sub(r"\1\n\n", LINK.sub(rewrite, markdown))
