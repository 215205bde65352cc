import { useSignal } from '@preact/signals';
import { get, v1 } from '../../api/client.ts';
import type { ScheduleSlotList } from '../../api/types.ts';
import { Empty, Failure, Loading } from '../../parts/basics.tsx';
import { fullTime } from '../../parts/format.ts';
import { href } from '../../state/route.ts';
import { useLoaded } from '../../state/use-loaded.ts';

const refreshMs = 5_000;
const shownSlots = 20;

/** What the last slots of a schedule did, once the reader asks for it. */
export function Slots({ name, tenant }: { name: string; tenant: string }) {
  const open = useSignal(false);
  return (
    <details onToggle={(event) => (open.value = event.currentTarget.open)}>
      <summary>Slots so far</summary>
      {open.value && <SlotTable name={name} tenant={tenant} />}
    </details>
  );
}

const tones: Record<string, string> = { fired: 'good', failed: 'bad', due: 'wait', firing: 'busy' };

function SlotTable({ name, tenant }: { name: string; tenant: string }) {
  const loaded = useLoaded<ScheduleSlotList>(
    (signal) => get(v1('schedules', name, 'slots'), { tenant, limit: shownSlots }, signal),
    [],
    { everyMs: refreshMs },
  );
  if (!loaded.data) return loaded.error ? <Failure error={loaded.error} /> : <Loading />;
  if (loaded.data.data.length === 0) return <Empty>No slot has come yet.</Empty>;
  return (
    <table class="list">
      <thead>
        <tr>
          <th scope="col">Slot</th>
          <th scope="col">What it did</th>
        </tr>
      </thead>
      <tbody>
        {loaded.data.data.map(({ slot, status, thread_id: threadId, run_id: runId, error }) => (
          <tr key={slot}>
            <th scope="row">{fullTime(slot)}</th>
            <td data-label="what it did">
              <span class={`status ${tones[status] ?? 'idle'}`}>{status}</span>{' '}
              {threadId && runId && <a href={href('threads', threadId, 'runs', runId)}>{runId}</a>}
              {error && <span class="bad">{error.message}</span>}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
