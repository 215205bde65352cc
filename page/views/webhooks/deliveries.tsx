import { useSignal } from '@preact/signals';
import { get, post, v1 } from '../../api/client.ts';
import type { Webhook, WebhookDelivery, WebhookDeliveryList } from '../../api/types.ts';
import { Empty, Failure, Loading } from '../../parts/basics.tsx';
import { DialogButton } from '../../parts/dialog.tsx';
import { fullTime } from '../../parts/format.ts';
import { href } from '../../state/route.ts';
import { useLoaded } from '../../state/use-loaded.ts';
import { pathOf } from './webhook-dialogs.tsx';

const refreshMs = 5_000;
const shownDeliveries = 20;

/** The last deliveries of a webhook, once the reader asks for them. */
export function Deliveries({ webhook }: { webhook: Webhook }) {
  const open = useSignal(false);
  return (
    <details onToggle={(event) => (open.value = event.currentTarget.open)}>
      <summary>Deliveries</summary>
      {open.value && <DeliveryTable webhook={webhook} />}
    </details>
  );
}

const tones: Record<string, string> = { delivered: 'good', failed: 'bad', dropped: 'bad', pending: 'wait' };

function DeliveryTable({ webhook }: { webhook: Webhook }) {
  const { name, tenant } = webhook;
  const loaded = useLoaded<WebhookDeliveryList>(
    (signal) => get(v1('webhooks', name, 'deliveries'), { tenant, limit: shownDeliveries }, signal),
    [],
    { everyMs: refreshMs },
  );
  if (!loaded.data) return loaded.error ? <Failure error={loaded.error} /> : <Loading />;
  if (loaded.data.data.length === 0) return <Empty>Nothing was to be sent yet.</Empty>;
  return (
    <table class="list">
      <thead>
        <tr>
          <th scope="col">Event</th>
          <th scope="col">What became of it</th>
          <th scope="col">Answer</th>
        </tr>
      </thead>
      <tbody>
        {loaded.data.data.map((delivery) => (
          <DeliveryRow key={delivery.id} webhook={webhook} delivery={delivery} onChange={loaded.reload} />
        ))}
      </tbody>
    </table>
  );
}

function DeliveryRow({
  webhook,
  delivery,
  onChange,
}: {
  webhook: Webhook;
  delivery: WebhookDelivery;
  onChange: () => Promise<void>;
}) {
  const { id, type, status, attempts, created_at: at, status_code: code, error, answer, payload } = delivery;
  const { thread_id: threadId, run_id: runId } = payload['data'] as { thread_id?: string; run_id?: string };
  return (
    <tr>
      <th scope="row">
        {type}, {fullTime(at)} {threadId && runId && <a href={href('threads', threadId, 'runs', runId)}>{runId}</a>}
      </th>
      <td data-label="what became of it">
        <span class={`status ${tones[status] ?? 'idle'}`}>{status}</span> {attempts > 1 && `${attempts} attempts`}{' '}
        {(status !== 'pending' || error) && (
          <DialogButton
            title={`Send ${type} again?`}
            button="Send again"
            label={`Send again: ${id}`}
            submit="Send"
            kind="small"
            onSubmit={async () => {
              await post(pathOf(webhook, 'redeliver'), { id });
              await onChange();
            }}
          >
            <p>The receiver gets the same webhook-id.</p>
          </DialogButton>
        )}
      </td>
      <td data-label="answer">
        {error ? <span class="bad">{error.message}</span> : code} {answer && <code>{answer}</code>}
      </td>
    </tr>
  );
}
