import { useSignal } from '@preact/signals';
import { get, v1 } from '../../api/client.ts';
import type { LimitList, LimitUse, UsedLimit, LimitHolder } from '../../api/types.ts';
import { Empty, Failure, Loading, Tag, Time, Status } from '../../parts/basics.tsx';
import { Heading } from '../../parts/heading.tsx';
import { HeldBy } from '../../parts/held-by.tsx';
import { useLoaded } from '../../state/use-loaded.ts';
import { Circuits } from './circuits.tsx';
import { AmountButton, NewLimitButton, RemoveButton } from './limit-dialogs.tsx';
import { Usage } from './usage.tsx';
import { appliesTo, counted, shown } from './words.ts';
import { href } from '../../state/route.ts';

const refreshMs = 2_000;
const keys = 20;

/** Every limit: what is used and reserved of it, and who waits for it. */
export function LimitsView() {
  const loaded = useLoaded<LimitList>((signal) => get('/v1/limits', { limit: keys }, signal), [], {
    everyMs: refreshMs,
  });
  const limits = loaded.data?.data;
  return (
    <section aria-labelledby="title">
      <div class="heading">
        <Heading title="Limits" />
        <div class="actions">
          <NewLimitButton onSet={loaded.reload} />
        </div>
      </div>
      <Failure error={loaded.error} />
      {!limits && !loaded.error && <Loading />}
      {limits?.length === 0 && <Empty>There are no limits: every run may continue.</Empty>}
      {limits?.map((limit) => (
        <LimitCard key={`${limit.tenant ?? '*'} ${limit.name}`} limit={limit} onSet={loaded.reload} />
      ))}
      <Circuits />
    </section>
  );
}

const exhaustion: Record<string, string> = {
  end: '; runs that need more end',
  notice: '; only gives notice',
};

function LimitCard({ limit, onSet }: { limit: UsedLimit; onSet: () => Promise<void> }) {
  const { name, tenant, amount, share_by: shareBy, on_exhausted: exhausted } = limit;
  const { usage, next, more } = useKeys(limit);
  const holders = useSignal(false);
  const id = `limit-${tenant ?? ''}-${name}`;
  return (
    <section aria-labelledby={id} class="card">
      <div class="heading">
        <h2 id={id}>{name}</h2>
        {tenant !== null && <Tag title="The tenant whose limit it is">{tenant}</Tag>}
        <div class="actions">
          <AmountButton limit={limit} onSet={onSet} />
          <RemoveButton limit={limit} onSet={onSet} />
        </div>
      </div>
      <p>
        {shown(limit, amount)} {counted(limit)} for {appliesTo(limit)}
        {shareBy && `; ${shareBy}s take turns`}
        {exhausted && exhaustion[exhausted]}
        <span class="muted">
          {' '}
          Set by {limit.updated_by}, <Time at={limit.updated_at} />
        </span>
      </p>
      {usage.length === 0 ? (
        <p class="muted">It has not been used yet.</p>
      ) : (
        <table class="list">
          <thead>
            <tr>
              <th scope="col">For</th>
              <th scope="col">Used</th>
              <th scope="col">Over time</th>
              <th scope="col" class="num">
                Waiting
              </th>
              <th scope="col" class="num">
                In total
              </th>
            </tr>
          </thead>
          <tbody>
            {usage.map((use) => (
              <Usage key={use.key} limit={limit} use={use} />
            ))}
          </tbody>
        </table>
      )}
      {limit.kind === 'concurrency' && usage.some(({ waiting }) => waiting > 0) && (
        <p class="muted">
          <HeldBy limit={name} tenant={tenant} />
        </p>
      )}
      <div class="actions">
        {next !== null && (
          <button type="button" class="small" onClick={() => void more()}>
            More keys
          </button>
        )}
        <button
          type="button"
          class="small"
          aria-expanded={holders.value}
          onClick={() => (holders.value = !holders.value)}
        >
          Runs that hold {name}
        </button>
      </div>
      {holders.value && <Holders limit={limit} everyMs={refreshMs} />}
    </section>
  );
}

/** The keys of a limit: the first ones as they are now, and those that were asked for as they were then. */
function useKeys(limit: UsedLimit) {
  const later = useSignal<LimitUse[]>([]);
  const after = useSignal<string | null | undefined>(undefined);
  const known = new Set(limit.usage.map(({ key }) => key));
  const next = after.value === undefined ? limit.next_after : after.value;
  return {
    usage: [...limit.usage, ...later.value.filter(({ key }) => !known.has(key))],
    next,
    more: async (): Promise<void> => {
      const { data } = await get<LimitList>('/v1/limits', { after: next, limit: keys });
      later.value = [...later.value, ...(data[0]?.usage ?? [])];
      after.value = data[0]?.next_after ?? null;
    },
  };
}

const most = 50;

/** The runs that hold a slot of a limit, or have reserved some of it for a model call. Read while they are shown. */
export function Holders({ limit, everyMs }: { limit: UsedLimit; everyMs: number }) {
  const loaded = useLoaded<{ data: LimitHolder[]; next_after: string | null }>(
    (signal) => get(v1('limits', limit.name, 'holders'), { limit: most }, signal),
    [limit.name],
    { everyMs },
  );
  // a tenant may have a limit of the same name
  const runs = loaded.data?.data.filter(({ tenant }) => tenant === limit.tenant);
  return (
    <>
      <Failure error={loaded.error} />
      {!runs && !loaded.error && <Loading />}
      {runs?.length === 0 && <Empty>No run holds anything of it.</Empty>}
      {runs && runs.length > 0 && (
        <table class="list" aria-label={`Runs that hold ${limit.name}`}>
          <thead>
            <tr>
              {['Run', 'Agent', 'For', 'Holds', 'Status', 'Worker', 'Since'].map((title) => (
                <th key={title} scope="col">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {runs.map((run) => (
              <tr key={`${run.thread_id} ${run.run_id} ${run.key}`}>
                <th scope="row">
                  <a class="mono" href={href('threads', run.thread_id, 'runs', run.run_id)}>
                    {run.run_id}
                  </a>
                </th>
                <td data-label="agent">{run.agent}</td>
                <td data-label="for">{run.key || 'all together'}</td>
                <td data-label="holds">{shown(limit, run.amount)}</td>
                <td data-label="status">
                  <Status status={run.status} />
                </td>
                <td data-label="worker" class="mono">
                  {run.worker_id ?? 'none'}
                </td>
                <td data-label="since">
                  <Time at={run.since} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {loaded.data?.next_after && <p class="muted">The {most} that have held it longest.</p>}
    </>
  );
}
