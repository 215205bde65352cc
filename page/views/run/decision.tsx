import { useSignal } from '@preact/signals';
import { post, v1 } from '../../api/client.ts';
import type { AwaitedCall } from '../../api/types.ts';
import { Failure } from '../../parts/basics.tsx';
import { JsonText } from '../../parts/text.tsx';

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
