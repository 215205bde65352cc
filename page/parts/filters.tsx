import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { route, setQuery } from '../state/route.ts';
import { clip } from './format.ts';
import { get } from '../api/client.ts';
import type { AgentList } from '../api/types.ts';
import { useLoaded } from '../state/use-loaded.ts';

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

/** Filters by creation time: ISO 8601 in the address, the reader's time zone in the fields. */
export const TimeFilter = () => (
  <>
    <Moment name="created_after" label="Since" />
    <Moment name="created_before" label="Before" />
  </>
);

const Moment = ({ name, label }: { name: string; label: string }) => (
  <label class="when">
    <span>{label}</span>
    <input
      type="datetime-local"
      value={local(route.value.query.get(name) ?? '')}
      onChange={({ currentTarget: { value } }) =>
        setQuery({ [name]: value ? new Date(value).toISOString() : undefined })
      }
    />
  </label>
);

function local(at: string): string {
  const ms = Date.parse(at);
  return Number.isNaN(ms) ? '' : new Date(ms - new Date(ms).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** A form field to select one of the agents this server knows. */
export function AgentSelect({ chosen }: { chosen?: string | undefined }) {
  const agents = useLoaded<AgentList>((signal) => get('/v1/agents', {}, signal), []);
  return (
    <label>
      <span>Agent</span>
      <select name="agent" required>
        {agents.data?.data.map(({ name, model }) => (
          <option key={name} value={name} selected={name === chosen}>
            {name} ({clip(model, 40)})
          </option>
        ))}
      </select>
    </label>
  );
}
