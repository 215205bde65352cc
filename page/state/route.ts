import { signal } from '@preact/signals';

/** The current view: the part of the address after `#`, so that the server only needs to serve one page. */
export interface Route {
  path: string[];
  query: URLSearchParams;
}

const read = (): Route => {
  const [path = '', query = ''] = location.hash.replace(/^#\/?/, '').split('?');
  return { path: path.split('/').filter(Boolean).map(decoded), query: new URLSearchParams(query) };
};

/** An address typed by hand may have an invalid encoding. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export const route = signal(read());
addEventListener('hashchange', () => (route.value = read()));

/** The address of a view: `href('threads', id, { at: '3' })`. */
export function href(...parts: (string | Record<string, string | undefined>)[]): string {
  const path = parts.filter((part) => typeof part === 'string').map(encodeURIComponent);
  const last = parts.at(-1);
  const given = typeof last === 'object' ? Object.entries(last).filter(([, value]) => value) : [];
  const query = new URLSearchParams(given as [string, string][]).toString();
  return `#/${path.join('/')}${query && `?${query}`}`;
}

/** Changes the query of the current view without adding a history entry. */
export function setQuery(changes: Record<string, string | undefined>): void {
  const { path, query } = route.value;
  const next = { ...Object.fromEntries(query), ...changes };
  history.replaceState(history.state, '', href(...path, next));
  route.value = read();
}
