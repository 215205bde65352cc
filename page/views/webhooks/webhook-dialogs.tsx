import { post, put, remove, v1 } from '../../api/client.ts';
import type { Webhook, WebhookSet } from '../../api/types.ts';
import { DialogButton } from '../../parts/dialog.tsx';

/** Called after a change; `secret`, with the name of its webhook, is shown until the next change. */
export type OnChange = (secret?: { name: string; secret: string }) => Promise<void>;

export const pathOf = ({ name, tenant }: Pick<Webhook, 'name' | 'tenant'>, ...action: string[]): string =>
  `${v1('webhooks', name, ...action)}?tenant=${encodeURIComponent(tenant)}`;

const types = [
  'run.completed',
  'run.failed',
  'run.cancelled',
  'approval.requested',
  'wait.started',
  'limit.exhausted',
  'schedule.missed',
  'monitor.low',
  'monitor.recovered',
  'alarm.raised',
  'alarm.cleared',
  'circuit.opened',
  'circuit.closed',
];

/** Sets a new webhook. */
export const NewWebhookButton = ({ onChange }: { onChange: OnChange }) => (
  <DialogButton
    title="Set a webhook"
    button="Set a webhook"
    submit="Set"
    kind="primary"
    onSubmit={async (fields) => {
      const text = (name: string) => String(fields.get(name) ?? '').trim();
      const template = text('template');
      const { name, secret } = await put<WebhookSet>(v1('webhooks', text('name')), {
        url: text('url'),
        types: fields.getAll('types'),
        ordered: fields.has('ordered'),
        include_result: fields.has('include_result'),
        ...(template && { template: objectIn(template) }),
      });
      await onChange(secret === undefined ? undefined : { name, secret });
    }}
  >
    <label>
      <span>Name</span>
      <input name="name" required />
    </label>
    <label>
      <span>URL at a public address</span>
      <input name="url" type="url" required placeholder="https://example.com/webhooks" />
    </label>
    <label>
      <span>Events it wants; no selection: all</span>
      <select name="types" multiple size={types.length}>
        {types.map((type) => (
          <option key={type}>{type}</option>
        ))}
      </select>
    </label>
    <label class="check">
      <input name="ordered" type="checkbox" />
      <span>The events of a thread come one after the other</span>
    </label>
    <label class="check">
      <input name="include_result" type="checkbox" />
      <span>Include the results of runs</span>
    </label>
    <label>
      <span>Body to send instead of the event, as JSON; empty: the event</span>
      <textarea name="template" rows={3} spellcheck={false} placeholder={'{ "text": "{{type}}: {{data.agent}}" }'} />
    </label>
  </DialogButton>
);

function objectIn(text: string): object {
  try {
    return JSON.parse(text) as object;
  } catch {
    throw new Error('The body is not JSON.');
  }
}

const acts = {
  pause: ['Pause', 'Nothing is sent until it is resumed; events are kept.'],
  resume: ['Resume', 'It resumes, with what was not delivered meanwhile.'],
  test: ['Test', 'It is sent an event of the type webhook.test.'],
  rotate: ['New secret', 'It gets a new secret. The ones before stay valid for a day.'],
  remove: ['Remove', 'What was not delivered yet is not sent.'],
} as const;

/** A button that does something to a webhook, once it is confirmed. */
export function ActButton({
  webhook,
  act,
  onChange,
}: {
  webhook: Webhook;
  act: keyof typeof acts;
  onChange: OnChange;
}) {
  const [word, text] = acts[act];
  const { name } = webhook;
  return (
    <DialogButton
      title={act === 'rotate' ? `A new secret for ${name}?` : `${word} ${name}?`}
      button={word}
      label={act === 'rotate' ? `New secret for ${name}` : `${word} ${name}`}
      submit={word}
      kind="small"
      onSubmit={async () => {
        if (act === 'rotate') {
          const { secret } = await post<{ secret: string }>(pathOf(webhook, act));
          return onChange({ name, secret });
        }
        await (act === 'remove' ? remove(pathOf(webhook)) : post(pathOf(webhook, act)));
        return onChange();
      }}
    >
      <p>{text}</p>
    </DialogButton>
  );
}
