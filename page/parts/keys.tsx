import { useEffect, useRef } from 'preact/hooks';
import { lastAddress } from '../state/filters.ts';
import { href, route } from '../state/route.ts';
import { leave } from '../state/arrival.ts';

/** What j and k move through: rows of a list, messages, parts of a run, and the calls beside a call. */
const rowsOfView = 'main :is(.row-link, .entry-links > a:first-child, .waterfall a, .calls a)';

const keys: [string[], string][] = [
  [['j', '↓'], 'the next row, message or step'],
  [['k', '↑'], 'the one before'],
  [['Enter'], 'opens it'],
  [['u', 'Esc'], 'goes back: from a call to its run, its thread and the list'],
  [['/'], 'search, or else a filter'],
  [['?'], 'shows this'],
];

/** A button that shows the keys, and what they do in every view. */
export function KeysButton() {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isBusy(event)) return;
      if (act(event.key, () => dialog.current?.showModal())) event.preventDefault();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  return (
    <>
      <button type="button" onClick={() => dialog.current?.showModal()}>
        Keys <kbd>?</kbd>
      </button>
      <dialog ref={dialog} aria-label="Keys">
        <h2>Keys</h2>
        <dl class="keys">
          {keys.map(([names, does]) => (
            <div key={does} class="key">
              <dt>
                {names.map((name) => (
                  <kbd key={name}>{name}</kbd>
                ))}
              </dt>
              <dd>{does}</dd>
            </div>
          ))}
        </dl>
        <form method="dialog" class="actions">
          <button type="submit">Close</button>
        </form>
      </dialog>
    </>
  );
}

/** Keys in a field, a menu or a dialog are for it alone. */
const isBusy = ({ target, key }: KeyboardEvent): boolean =>
  document.querySelector('dialog[open]') !== null ||
  (target as Element).closest('input, textarea, select, details.menu[open]') !== null ||
  (key.startsWith('Arrow') && !(target as Element).matches(rowsOfView));

function act(key: string, showKeys: () => void): boolean {
  if (key === '?') showKeys();
  else if (key === 'j' || key === 'ArrowDown') return moveBy(1);
  else if (key === 'k' || key === 'ArrowUp') return moveBy(-1);
  else if (key === '/') return search();
  else if (key === 'u' || key === 'Escape') return goUp();
  else return false;
  return true;
}

function moveBy(step: 1 | -1): boolean {
  const rows = [...document.querySelectorAll<HTMLElement>(rowsOfView)].filter((row) => row.checkVisibility());
  const at = rows.indexOf(document.activeElement as HTMLElement);
  const to = at >= 0 ? rows[at + step] : step === 1 ? rows[0] : rows.at(-1);
  to?.focus();
  return to !== undefined;
}

function search(): boolean {
  const field = document.querySelector<HTMLElement>('main input[type=search]');
  const menu = document.querySelector<HTMLElement>('main .filters .menu.add > summary');
  field?.focus();
  if (!field) menu?.click();
  return (field ?? menu) !== null;
}

/** From a call to its run, to its thread, to the list as it was left. */
function goUp(): boolean {
  const [area, id, part, partId] = route.value.path;
  if (id === undefined || area === undefined) return false;
  // the id of a call is that of its run and a number
  const up =
    area !== 'threads' || part === undefined
      ? lastAddress(area)
      : part === 'calls' && partId
        ? href('threads', id, 'runs', partId.replace(/\.[^.]*$/, ''))
        : href('threads', id);
  leave(up);
  return true;
}
