import { effect, signal } from '@preact/signals';
import { href, route } from './route.ts';

/** The views whose filters are kept. */
const kept = ['threads', 'runs'];
const place = (view: string): string => `lanefold.filters.${view}`;

/** A filtered list to come back to: a query of its view, with the name under which it was kept. */
export interface SavedView {
  name: string;
  query: string;
}

const savedPlace = 'lanefold.views';
export const savedViews = signal<Record<string, SavedView[]>>(readSaved());

function readSaved(): Record<string, SavedView[]> {
  try {
    return JSON.parse(localStorage.getItem(savedPlace) ?? '{}') as Record<string, SavedView[]>;
  } catch {
    return {};
  }
}

export function saveViews(view: string, views: SavedView[]): void {
  savedViews.value = { ...savedViews.value, [view]: views };
  localStorage.setItem(savedPlace, JSON.stringify(savedViews.value));
}

// the list as it was left; kept with the tab, because a search may have the words of a customer
effect(() => {
  const { path, query } = route.value;
  const [view = 'threads'] = path;
  if (path.length <= 1 && kept.includes(view)) sessionStorage.setItem(place(view), query.toString());
});

/** The address of a view, with the filters it had last. */
export function lastAddress(view: string): string {
  // a link that is drawn again after each change of the address
  void route.value;
  const query = kept.includes(view) ? sessionStorage.getItem(place(view)) : null;
  return query ? `${href(view)}?${query}` : href(view);
}
