/** Shorter parts are no secrets, and a text has them anyway. */
const shortest = 8;

/**
 * Replaces the path and the parameters of an endpoint's URL in a text of its receiver: a redirect or an error page repeats
 * them, and they may be all that it takes to post to the receiver.
 */
export function hideUrl(text: string, { pathname, search, searchParams }: URL): string {
  const parts = [pathname + search, pathname, search, ...pathname.split('/'), ...[...searchParams].flat()];
  const written = new Set(parts.flatMap((part) => [part, decoded(part), encodeURIComponent(part)]));
  return [...written]
    .filter(({ length }) => length >= shortest)
    .sort((a, b) => b.length - a.length)
    .reduce((rest, part) => rest.replaceAll(part, '…'), text);
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
