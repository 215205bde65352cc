import { useEffect, useRef } from 'preact/hooks';
import { get } from '../../api/client.ts';
import type { AgentList } from '../../api/types.ts';
import { FilterForm, TimeFilter } from '../../parts/filters.tsx';
import { route, setQuery } from '../../state/route.ts';
import { useLoaded } from '../../state/use-loaded.ts';

const statuses = ['running', 'queued', 'suspended', 'failed', 'completed', 'cancelled'];
const typingMs = 250;
/** Filters that collapse on a phone; the search stays visible. */
const folded = ['status', 'agent', 'tenant_id', 'metadata', 'created_after', 'created_before'];

/** The filters are part of the address, so that a filtered list can be shared. */
export function Filters() {
  const { query } = route.value;
  const agents = useLoaded<AgentList>((signal) => get('/v1/agents', {}, signal), []);
  const search = useRef<HTMLInputElement>(null);
  const timer = useRef(0);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== '/' || /^(INPUT|TEXTAREA|SELECT)$/.test((event.target as HTMLElement).tagName)) return;
      event.preventDefault();
      search.current?.focus();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  const set = (name: string) => (event: Event) =>
    setQuery({ [name]: (event.currentTarget as HTMLInputElement).value || undefined });
  const typed = (name: string) => (event: Event) => {
    const { value } = event.currentTarget as HTMLInputElement;
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setQuery({ [name]: value || undefined }), typingMs) as unknown as number;
  };
  const failedOnly = query.get('status') === 'failed';
  return (
    <FilterForm names={folded}>
      <label class="grow">
        <span>Search what users wrote</span>
        <input
          ref={search}
          type="search"
          placeholder='refund -paid "order 42"  ( / )'
          value={query.get('text') ?? ''}
          onInput={typed('text')}
        />
      </label>
      <label>
        <span>Status</span>
        <select value={query.get('status') ?? ''} onChange={set('status')}>
          <option value="">any</option>
          {statuses.map((status) => (
            <option key={status} value={status}>
              {status === 'suspended' ? 'needs approval' : status}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span>Agent</span>
        <select value={query.get('agent') ?? ''} onChange={set('agent')}>
          <option value="">any</option>
          {agents.data?.data.map(({ name }) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span>Tenant</span>
        <input value={query.get('tenant_id') ?? ''} onInput={typed('tenant_id')} />
      </label>
      <label>
        <span>Metadata</span>
        <input placeholder='{"customer": 7}' value={query.get('metadata') ?? ''} onChange={set('metadata')} />
      </label>
      <TimeFilter />
      <button
        type="button"
        aria-pressed={failedOnly}
        onClick={() => setQuery({ status: failedOnly ? undefined : 'failed' })}
      >
        Failed only
      </button>
    </FilterForm>
  );
}
