// A link has the manifest and the release in its fragment: #m=<compressed manifest>&r=<release>.

// The maximum length of a fragment in characters. Some programs truncate longer links.
export const MAX_LINK = 32768;

async function pipe(bytes, transform, limit) {
  const reader = new Blob([bytes]).stream().pipeThrough(transform).getReader();
  const chunks = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > limit) {
      reader.cancel().catch(() => {});
      throw new Error("too large");
    }
    chunks.push(value);
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}

// encode returns the fragment for a manifest, or undefined if the fragment is too long for a link.
export async function encode(manifest, release, limit) {
  const bytes = await pipe(new TextEncoder().encode(manifest), new CompressionStream("deflate-raw"), limit);
  if (bytes.length > MAX_LINK) return undefined;
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  const text = btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  const fragment = `#m=${text}${release ? `&r=${release}` : ""}`;
  return fragment.length > MAX_LINK ? undefined : fragment;
}

// decode returns { manifest, release } for a fragment of encode, and undefined for a fragment without a manifest. It
// throws an error for a fragment that cannot be read. limit is the maximum size of the manifest in bytes.
export async function decode(fragment, limit) {
  const match = /^#m=([\w-]*)(?:&r=(\d+\.\d+))?$/.exec(fragment.slice(0, MAX_LINK + 1));
  if (!match) {
    if (fragment.startsWith("#m=")) throw new Error("not readable");
    return undefined;
  }
  if (fragment.length > MAX_LINK) throw new Error("too long");
  const binary = atob(match[1].replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
  const text = await pipe(bytes, new DecompressionStream("deflate-raw"), limit);
  return { manifest: new TextDecoder("utf-8", { fatal: true }).decode(text), release: match[2] ?? "" };
}
