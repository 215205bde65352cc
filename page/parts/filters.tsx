import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { route } from '../state/route.ts';

/**
 * The filters of a list. On a phone, where they would fill the screen, they collapse behind a button with their count.
 */
export function FilterForm({ names, children }: { names: readonly string[]; children: ComponentChildren }) {
  const open = useSignal(false);
  const used = names.filter((name) => route.value.query.get(name)).length;
  return (
    <form class={open.value ? 'filters open' : 'filters'} role="search" onSubmit={(event) => event.preventDefault()}>
      <button type="button" class="fold-filters" aria-expanded={open.value} onClick={() => (open.value = !open.value)}>
        Filters{used > 0 && ` (${used})`}
      </button>
      {children}
    </form>
  );
}
