import { closeMenu, Menu } from '../../parts/menu.tsx';
import { savedViews, saveViews } from '../../state/filters.ts';
import { href, route } from '../../state/route.ts';

/** A list that people look for often: a name, and its filters. */
export type BuiltIn = [name: string, query: Record<string, string>];

/** What people look for among threads and among runs. */
export const sought: readonly BuiltIn[] = [
  ['Tool failed', { mark: 'tool_failed' }],
  ['Arguments refused', { mark: 'arguments_refused' }],
  ['Handoffs looped', { mark: 'handoffs_looped' }],
  ['Cut', { mark: 'cut' }],
  ['Cache missed', { mark: 'cache_missed' }],
  ['Disliked', { mark: 'disliked' }],
  ['Waits for a limit', { waiting_for: 'limit' }],
];

/** Filtered lists under a name: those of the page, and those that the reader keeps in this browser. */
export function ViewsMenu({ view, builtIn }: { view: 'threads' | 'runs'; builtIn: readonly BuiltIn[] }) {
  const own = savedViews.value[view] ?? [];
  const now = route.value.query.toString();
  const named: [string, string][] = builtIn.map(([name, query]) => [name, new URLSearchParams(query).toString()]);
  const current = [...named, ...own.map(({ name, query }) => [name, query])].find(([, query]) => query === now);
  const close = ({ currentTarget }: { currentTarget: Element }) => closeMenu(currentTarget.closest('details')!);
  const keep = (event: Event) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const name = String(new FormData(form).get('name')).trim();
    if (name === '') return;
    saveViews(view, [...own.filter((one) => one.name !== name), { name, query: now }]);
    form.reset();
  };
  const to = (query: string) => (query === '' ? href(view) : `${href(view)}?${query}`);
  return (
    <Menu title={<>View: {current?.[0] ?? 'own filters'}</>} kind="end">
      {named.map(([name, query]) => (
        <a key={name} href={to(query)} aria-current={query === now ? 'true' : undefined} onClick={close}>
          {name}
        </a>
      ))}
      {own.length > 0 && <p>Yours, in this browser</p>}
      {own.map(({ name, query }) => (
        <div key={name} class="item">
          <a href={to(query)} aria-current={query === now ? 'true' : undefined} onClick={close}>
            {name}
          </a>
          <button
            type="button"
            aria-label={`Remove the view ${name}`}
            onClick={() =>
              saveViews(
                view,
                own.filter((one) => one.name !== name),
              )
            }
          >
            ×
          </button>
        </div>
      ))}
      <form onSubmit={keep}>
        <label>
          <span>Keep these filters as</span>
          <input name="name" required maxLength={60} />
        </label>
        <button type="submit">Keep</button>
      </form>
    </Menu>
  );
}
