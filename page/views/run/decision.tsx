import { useSignal } from '@preact/signals';
import { post, v1 } from '../../api/client.ts';
import type { AwaitedCall, RunWait } from '../../api/types.ts';
import { Failure, Time } from '../../parts/basics.tsx';
import { JsonText } from '../../parts/message.tsx';
import { fullTime } from '../../parts/format.ts';
import { href } from '../../state/route.ts';

/** A tool call that waits for a person. */
export function Decision({
  threadId,
  runId,
  call,
  onDecided,
}: {
  threadId: string;
  runId: string;
  call: AwaitedCall;
  onDecided: () => Promise<void>;
}) {
  const reason = useSignal('');
  const error = useSignal<Error | undefined>(undefined);
  const busy = useSignal(false);
  const field = `reason-${runId}-${call.round}-${call.index}`;
  const decide = async (word: 'approve' | 'deny') => {
    busy.value = true;
    error.value = undefined;
    try {
      const given = reason.value.trim();
      const body = { by: 'page', ...(given === '' ? {} : { reason: given }) };
      await post(v1('threads', threadId, 'runs', runId, 'tool-calls', `${call.round}.${call.index}`, word), body);
      await onDecided();
    } catch (caught) {
      error.value = caught as Error;
    } finally {
      busy.value = false;
    }
  };
  return (
    <div class="decision">
      <p>
        Call <strong class="tool-name">{call.name}</strong> with these arguments?
      </p>
      <JsonText value={call.arguments} />
      <label for={field}>Reason (the model sees it if you deny)</label>
      <input id={field} value={reason.value} onInput={(event) => (reason.value = event.currentTarget.value)} />
      <Failure error={error.value} />
      <div class="actions">
        <button type="button" class="primary" disabled={busy.value} onClick={() => void decide('approve')}>
          Approve
        </button>
        <button type="button" class="danger" disabled={busy.value} onClick={() => void decide('deny')}>
          Deny
        </button>
      </div>
    </div>
  );
}

interface WaitProps {
  threadId: string;
  runId: string;
  wait: RunWait;
  onResolved: () => Promise<void>;
}

/** A tool call that waits for an event, a time or another run, with the means to resolve it. */
export function WaitingCall({ threadId, runId, wait, onResolved }: WaitProps) {
  const error = useSignal<Error | undefined>(undefined);
  const result = useSignal('');
  const call = `${wait.round}.${wait.index}`;
  const field = `resolve-${runId}-${call}`;
  const resolve = async () => {
    error.value = undefined;
    try {
      const body = { by: 'page', result: result.value || null };
      await post(v1('threads', threadId, 'runs', runId, 'tool-calls', call, 'resolve'), body);
      await onResolved();
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
        <summary>Resolve it</summary>
        <label for={field}>Result of the call</label>
        <input id={field} value={result.value} onInput={(event) => (result.value = event.currentTarget.value)} />
        <Failure error={error.value} />
        <div class="actions">
          <button type="button" class="primary" onClick={() => void resolve()}>
            Resolve
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
