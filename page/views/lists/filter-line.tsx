import type { ComponentChildren } from 'preact';
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { closeMenu, Menu } from '../../parts/menu.tsx';
import { route, setQuery } from '../../state/route.ts';
import { Choices, valueWords, type Field } from './fields.tsx';
import { ViewsMenu, type BuiltIn } from './views-menu.tsx';

const typingMs = 250;

/** One line above a list: a search, the filters in use as chips, a menu for more of them, and saved views. */
export function FilterLine({
  view,
  fields,
  search,
  builtIn,
  children,
}: {
  view: 'threads' | 'runs';
  fields: readonly Field[];
  /** What the search looks in. */
  search?: string;
  builtIn: readonly BuiltIn[];
  /** What can be done with a filtered list. */
  children?: ComponentChildren;
}) {
  const { query } = route.value;
  const line = useRef<HTMLDivElement>(null);
  const editing = useSignal<string | undefined>(undefined);
  const used = fields.filter(({ name }) => query.get(name));
  const field = fields.find(({ name }) => name === editing.value);
  const menu = () => line.current!.querySelector<HTMLDetailsElement>('.menu.add')!;
  const edit = (name: string) => {
    editing.value = name;
    menu().open = true;
  };
  const choose = (changes: Record<string, string | undefined>) => {
    setQuery(changes);
    closeMenu(menu());
  };
  // what was clicked gives way to the values of its filter
  useEffect(() => {
    if (editing.value) line.current!.querySelector<HTMLElement>('.add .menu-items :is(input, button)')?.focus();
  }, [editing.value]);
  return (
    <div class="filters" role="search" ref={line}>
      {search && <Search label={search} />}
      {used.map((one) => (
        <span key={one.name} class="chip">
          <button type="button" onClick={() => edit(one.name)} title="Change the filter">
            <span class="muted">{one.title}</span> <strong>{valueWords(one, query.get(one.name)!)}</strong>
          </button>
          <button
            type="button"
            aria-label={`Remove the filter ${one.title}`}
            onClick={() => setQuery({ [one.name]: undefined })}
          >
            ×
          </button>
        </span>
      ))}
      <Menu
        title="Add filter"
        kind="add from-start"
        onToggle={(open) => {
          if (!open) editing.value = undefined;
        }}
      >
        {field ? (
          <Choices key={field.name} field={field} onChoose={choose} />
        ) : (
          fields.map(({ name, title }) => (
            <button key={name} type="button" onClick={() => (editing.value = name)}>
              {title}
            </button>
          ))
        )}
      </Menu>
      {used.length > 0 && (
        <button
          type="button"
          class="link"
          onClick={() => setQuery(Object.fromEntries(used.map(({ name }) => [name, undefined])))}
        >
          Clear
        </button>
      )}
      {used.length > 0 && children}
      <ViewsMenu view={view} builtIn={builtIn} />
    </div>
  );
}

function Search({ label }: { label: string }) {
  const timer = useRef(0);
  const typed = ({ currentTarget: { value } }: { currentTarget: HTMLInputElement }) => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setQuery({ text: value || undefined }), typingMs) as unknown as number;
  };
  return (
    <input
      type="search"
      aria-label={label}
      placeholder={`${label}  ( / )`}
      title='Words, "a phrase", and -words that must not be there'
      value={route.value.query.get('text') ?? ''}
      onInput={typed}
    />
  );
}
