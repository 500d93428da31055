// Splits a line of YAML into elements with colors. All text is set as text, never as HTML.

const KEY = /^(\s*(?:- )*)([\w./-]+:)(?=\s|$)(.*)$/;
const STRING = /^(\s*)("[^"]*"|'[^']*')(.*)$/;

export function element(name, className, ...content) {
  const node = document.createElement(name);
  if (className) node.className = className;
  node.append(...content);
  return node;
}

// code returns the parts of a line: its key, a quoted value and its comment are elements.
export function code(text) {
  const at = text.search(/(^|\s)#/);
  if (at >= 0 && !/["'].*#.*["']/.test(text)) {
    return [...code(text.slice(0, at)), element("span", "comment", text.slice(at))];
  }
  const [, before, key, rest] = KEY.exec(text) ?? [null, "", "", text];
  const [, space, string, after] = STRING.exec(rest) ?? [null, rest, "", ""];
  return [before, key && element("span", "key", key), space, string && element("span", "string", string), after]
    .filter(Boolean);
}
