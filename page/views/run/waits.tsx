import { useSignal } from '@preact/signals';
import { post, v1 } from '../../api/client.ts';
import type { RunWait } from '../../api/types.ts';
import { Failure, Time } from '../../parts/basics.tsx';
import { fullTime } from '../../parts/format.ts';
import { href } from '../../state/route.ts';

interface Props {
  threadId: string;
  runId: string;
  wait: RunWait;
  onReleased: () => Promise<void>;
}

/** A tool call that waits for an event, a time or another run, with the means to release it. */
export function WaitingCall({ threadId, runId, wait, onReleased }: Props) {
  const error = useSignal<Error | undefined>(undefined);
  const result = useSignal('');
  const call = `${wait.round}.${wait.index}`;
  const field = `release-${runId}-${call}`;
  const release = async () => {
    error.value = undefined;
    try {
      const body = { by: 'page', result: result.value || null };
      await post(v1('threads', threadId, 'runs', runId, 'tool-calls', call, 'release'), body);
      await onReleased();
    } catch (caught) {
      error.value = caught as Error;
    }
  };
  return (
    <div class="decision">
      <p>
        <strong class="tool-name">{wait.name}</strong> waits for <Awaited wait={wait} /> since <Time at={wait.since} />
        {wait.until && `, until ${fullTime(wait.until)}`}.
      </p>
      <details class="fold">
        <summary>Release it</summary>
        <label for={field}>Result of the call</label>
        <input id={field} value={result.value} onInput={(event) => (result.value = event.currentTarget.value)} />
        <Failure error={error.value} />
        <div class="actions">
          <button type="button" class="primary" onClick={() => void release()}>
            Release
          </button>
        </div>
      </details>
    </div>
  );
}

const Awaited = ({ wait: { kind, event, run } }: { wait: RunWait }) => {
  if (kind === 'event') return <code>{event}</code>;
  return run ? <a href={href('threads', run.thread_id, 'runs', run.id)}>another run</a> : <>a time</>;
};
