import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { post } from '../../api/client.ts';
import type { BulkReceipt } from '../../api/types.ts';
import { Failure, Loading } from '../../parts/basics.tsx';
import { DialogButton } from '../../parts/dialog.tsx';
import { number } from '../../parts/format.ts';
import { Menu } from '../../parts/menu.tsx';
import { useLoaded } from '../../state/use-loaded.ts';
import { filterOf, type QueryFilter } from './filter-of.ts';

interface Act {
  word: string;
  path: string;
  /** What is done, after a count of runs. */
  done: string;
  concerns: string;
  fields?: ComponentChildren;
  /** The fields of the request besides the filter. */
  bodyOf?: (fields: FormData) => object;
}

const textIn = (fields: FormData, name: string): string | undefined =>
  String(fields.get(name) ?? '').trim() || undefined;

const acts: Act[] = [
  { word: 'Cancel', path: '/v1/runs/cancel-many', done: 'cancelled', concerns: 'that have not ended' },
  {
    word: 'Retry',
    path: '/v1/runs/retry-many',
    done: 'started again',
    concerns: 'that have ended',
    bodyOf: () => ({ busy: 'wait' }),
  },
  {
    word: 'Release',
    path: '/v1/runs/release-many',
    done: 'released',
    concerns: 'that wait for approval, an event or a time',
    fields: (
      <label>
        <span>Calls that wait for approval</span>
        <select name="decision">
          <option value="">go on waiting</option>
          <option value="approve">are approved</option>
          <option value="deny">are denied</option>
        </select>
      </label>
    ),
    bodyOf: (fields) => ({ decision: textIn(fields, 'decision') }),
  },
  {
    word: 'Keep as cases',
    path: '/v1/cases/keep-many',
    done: 'kept',
    concerns: 'that have ended',
    fields: (
      <label>
        <span>Dataset</span>
        <input name="dataset" required />
      </label>
    ),
    bodyOf: (fields) => ({ dataset: textIn(fields, 'dataset') }),
  },
];

/** For a list of runs: acts on all runs that its filter selects, after a preview of how many there are. */
export function BulkActions({
  filter,
  onDone,
  children,
}: {
  filter: QueryFilter;
  onDone?: () => Promise<unknown>;
  /** What else may be made of the filter. */
  children?: ComponentChildren;
}) {
  const said = useSignal('');
  return (
    <>
      <Menu title="Act on all…" kind="end">
        {acts.map((act) => (
          <BulkButton
            key={act.word}
            act={act}
            filter={filter}
            onDone={async (text) => {
              said.value = text;
              await onDone?.();
            }}
          />
        ))}
        {children}
      </Menu>
      <p role="status" class="said muted">
        {said.value}
      </p>
    </>
  );
}

function BulkButton({
  act: { word, path, done, concerns, fields, bodyOf },
  filter,
  onDone,
}: {
  act: Act;
  filter: QueryFilter;
  onDone: (text: string) => Promise<unknown>;
}) {
  const asked = filterOf(filter);
  return (
    <DialogButton
      title={`${word}: all runs of this filter`}
      button={`${word}…`}
      submit={word}
      onSubmit={async (form) => {
        const createdBefore = String(form.get('created_before') ?? '');
        if (!createdBefore) throw new Error('The runs are still being counted.');
        const body = { ...bodyOf?.(form), filter: { ...asked, created_before: createdBefore } };
        const runs = await throughAll(path, body);
        const of = (outcome: string) => number(runs.filter((run) => run.outcome === outcome).length);
        await onDone(`${of('done')} ${done}, ${of('unchanged')} unchanged, ${of('refused')} refused.`);
      }}
    >
      <Preview path={path} filter={asked} concerns={concerns} dataset={path.includes('/cases/')} />
      {fields}
    </DialogButton>
  );
}

/** Page after page, until none is left. */
async function throughAll(path: string, body: object): Promise<BulkReceipt['runs']> {
  const runs: BulkReceipt['runs'] = [];
  const requestId = path.includes('/retry') ? { request_id: `page-${crypto.randomUUID()}` } : {};
  for (let after: string | null | undefined; after !== null;) {
    const page: BulkReceipt = await post(path, { ...body, ...requestId, ...(after ? { after } : {}) });
    runs.push(...page.runs);
    after = page.next_after;
  }
  return runs;
}

function Preview({
  path,
  filter,
  concerns,
  dataset,
}: {
  path: string;
  filter: object;
  concerns: string;
  dataset: boolean;
}) {
  const loaded = useLoaded<BulkReceipt>(
    () => post(path, { filter, dry_run: true, ...(dataset ? { dataset: 'preview' } : {}) }),
    [path, JSON.stringify(filter)],
  );
  if (!loaded.data) return loaded.error ? <Failure error={loaded.error} /> : <Loading />;
  const { matched, runs, created_before: createdBefore } = loaded.data;
  return (
    <>
      <input type="hidden" name="created_before" value={createdBefore} />
      <p>
        Runs {concerns}: <strong>{number(matched)}</strong>
        {runs.length > 0 && ', such as'}
      </p>
      <ul>
        {runs.map((run) => (
          <li key={`${run.thread_id}/${run.id}`}>
            {run.agent}, {run.status} <span class="id">{run.thread_id}</span>
          </li>
        ))}
      </ul>
    </>
  );
}
