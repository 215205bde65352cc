import { get, v1 } from '../../api/client.ts';
import type { Activity, AgentList, AgentVersionList } from '../../api/types.ts';
import { Loading, statusWord } from '../../parts/basics.tsx';
import { amount, fullTime } from '../../parts/format.ts';
import { route } from '../../state/route.ts';
import { useLoaded } from '../../state/use-loaded.ts';
import { kinds, waitWords } from '../marks/marks.tsx';
import { countsOf } from './counts.ts';

/** A value to choose, in the words of the columns. */
type Choice = [value: string, words: string, count?: number | undefined];

/** A filter of a list. It has a menu of values where they are known, and a field where they are not. */
export interface Field {
  name: string;
  title: string;
  known?: readonly Choice[];
  read?: (signal: AbortSignal) => Promise<Choice[]>;
  input?: 'text' | 'number' | 'datetime-local';
  placeholder?: string;
  /** What the list is asked for without the filter. */
  unset?: string;
}

/** What the server is asked for. */
export const valueOf = (query: URLSearchParams, { name, unset = '' }: Field): string => query.get(name) ?? unset;

const statuses: Choice[] = ['running', 'queued', 'waiting', 'suspended', 'failed', 'completed', 'cancelled'].map(
  (status): Choice => [status, statusWord(status)],
);

const agents = async (signal: AbortSignal) => (await get<AgentList>('/v1/agents', {}, signal)).data;

const hours = 168;

export const fields = {
  status: {
    name: 'status',
    title: 'Status',
    known: statuses,
    read: (signal) => counted(signal, 'status', statuses),
  },
  waitingFor: { name: 'waiting_for', title: 'Waits for', known: Object.entries(waitWords) },
  mark: {
    name: 'mark',
    title: 'Mark',
    known: Object.entries(kinds).map(([kind, [, one]]): Choice => [kind, one]),
    read: (signal) =>
      counted(
        signal,
        'mark',
        Object.entries(kinds).map(([kind, [, one]]): Choice => [kind, one]),
      ),
  },
  answered: {
    name: 'answered',
    title: 'Answer',
    known: [
      ['false', 'no answer'],
      ['true', 'answered'],
    ],
  },
  agent: {
    name: 'agent',
    title: 'Agent',
    read: async (signal) => {
      const known = (await agents(signal)).map(({ name }): Choice => [name, name]);
      return counted(signal, 'agent', known);
    },
  },
  version: { name: 'version', title: 'Version', read: versions },
  model: {
    name: 'model',
    title: 'Model',
    input: 'text',
    read: async (signal) =>
      [...new Set((await agents(signal)).map(({ model }) => model))].map((model) => [model, model]),
  },
  errorType: {
    name: 'error_type',
    title: 'Error',
    input: 'text',
    read: async (signal) =>
      (await get<Activity>('/v1/activity', { hours }, signal)).errors.map(({ type, runs }) => [type, type, runs]),
  },
  tenant: { name: 'tenant_id', title: 'Tenant', input: 'text' },
  metadata: { name: 'metadata', title: 'Metadata', input: 'text', placeholder: '{"customer": 7}' },
  since: { name: 'created_after', title: 'Since', input: 'datetime-local' },
  before: { name: 'created_before', title: 'Before', input: 'datetime-local' },
  minTokens: { name: 'min_tokens', title: 'Minimum tokens', input: 'number' },
  startedBy: { name: 'started_by', title: 'Started by', input: 'text', placeholder: 'id of a thread' },
  children: { name: 'children', title: 'Sub-runs', known: [['true', 'listed, too']], unset: 'false' },
} satisfies Record<string, Field>;

/** Values with the number of runs that have them, where the server counts. */
async function counted(signal: AbortSignal, name: 'status' | 'mark' | 'agent', known: Choice[]): Promise<Choice[]> {
  const counts = await countsOf(name, signal);
  if (!counts) return known;
  const runs = new Map<string, number>();
  const add = (value: string, count: number) => runs.set(value, (runs.get(value) ?? 0) + count);
  if (name === 'status') for (const one of counts.statuses) add(one.status, one.runs);
  if (name === 'mark') for (const one of counts.marks) add(one.mark, one.runs);
  if (name === 'agent') for (const one of counts.agents) add(one.agent, one.runs);
  return known.map(([value, words]) => [value, words, runs.get(value) ?? 0]);
}

/** The versions of the agent in the filter, else of all agents. */
async function versions(signal: AbortSignal): Promise<Choice[]> {
  const chosen = route.value.query.get('agent');
  const names = chosen ? [chosen] : (await agents(signal)).map(({ name }) => name);
  const lists = await Promise.all(
    names.map((name) => get<AgentVersionList>(v1('agents', name, 'versions'), { hours }, signal)),
  );
  return lists.flatMap(({ data }) =>
    data.map(({ agent, id, label, runs }): Choice => [id, `${agent} ${label ?? id.slice(0, 10)}`, runs]),
  );
}

const local = (at: string): string => {
  const ms = Date.parse(at);
  return Number.isNaN(ms) ? '' : new Date(ms - new Date(ms).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
};

/** A value in the words of its menu; a time in the reader's time zone. */
export function valueWords({ known, input }: Field, value: string): string {
  if (input === 'datetime-local') return Number.isNaN(Date.parse(value)) ? value : fullTime(value);
  return known?.find(([one]) => one === value)?.[1] ?? value;
}

/** The values of a filter, or a field for one. */
export function Choices({
  field,
  onChoose,
}: {
  field: Field;
  onChoose: (changes: Record<string, string | undefined>) => void;
}) {
  const { name, title, known, read, input } = field;
  const now = route.value.query.get(name) ?? '';
  const loaded = useLoaded<readonly Choice[]>(async (signal) => (read ? read(signal) : (known ?? [])), [name]);
  const choices = loaded.data ?? known;
  const submit = (event: Event) => {
    event.preventDefault();
    const value = String(new FormData(event.currentTarget as HTMLFormElement).get('value')).trim();
    const at = input === 'datetime-local' && value ? new Date(value).toISOString() : value;
    onChoose({ [name]: at || undefined });
  };
  return (
    <>
      <p>{title}</p>
      {input && (
        <form onSubmit={submit}>
          <input
            name="value"
            {...({ type: input } as { type: 'text' })}
            aria-label={title}
            placeholder={field.placeholder}
            defaultValue={input === 'datetime-local' ? local(now) : now}
          />
          <button type="submit">Apply</button>
        </form>
      )}
      {!choices && !loaded.error && <Loading />}
      {choices?.map(([value, words, count]) => (
        <button
          key={value}
          type="button"
          aria-current={value === now ? 'true' : undefined}
          onClick={() => onChoose({ [name]: value })}
        >
          {words}
          {count !== undefined && <span class="muted num">{amount(count)}</span>}
        </button>
      ))}
    </>
  );
}
