import { useSignal } from '@preact/signals';
import { get } from '../../api/client.ts';
import type { Webhook, WebhookList } from '../../api/types.ts';
import { Empty, Failure, Loading, Tag, Time } from '../../parts/basics.tsx';
import { Heading } from '../../parts/heading.tsx';
import { useLoaded } from '../../state/use-loaded.ts';
import { Deliveries } from './deliveries.tsx';
import { ActButton, NewWebhookButton, type OnChange } from './webhook-dialogs.tsx';

const refreshMs = 5_000;

/** Every webhook: whether it works, and how its endpoint answered. */
export function WebhooksView() {
  const loaded = useLoaded<WebhookList>((signal) => get('/v1/webhooks', {}, signal), [], { everyMs: refreshMs });
  const shown = useSignal<{ name: string; secret: string } | undefined>(undefined);
  const webhooks = loaded.data?.data;
  const onChange: OnChange = async (secret) => {
    shown.value = secret;
    await loaded.reload();
  };
  return (
    <section aria-labelledby="title">
      <div class="heading">
        <Heading title="Webhooks" />
        <div class="actions">
          <NewWebhookButton onChange={onChange} />
        </div>
      </div>
      {shown.value && (
        <p role="status" class="card">
          The secret of {shown.value.name}, shown only now: <code>{shown.value.secret}</code>
        </p>
      )}
      <Failure error={loaded.error} />
      {!webhooks && !loaded.error && <Loading />}
      {webhooks?.length === 0 && <Empty>There are no webhooks: no other system is told of events.</Empty>}
      {webhooks?.map((webhook) => (
        <WebhookCard key={`${webhook.tenant} ${webhook.name}`} webhook={webhook} onChange={onChange} />
      ))}
    </section>
  );
}

const reasons: Record<string, string> = {
  manual: 'by hand',
  failures: 'after many failures',
  gone: 'because it answered 410 Gone',
};

function WebhookCard({ webhook, onChange }: { webhook: Webhook; onChange: OnChange }) {
  const { name, tenant, url, types, agents, failures, paused_at: pausedAt, paused_reason: reason } = webhook;
  const id = `webhook-${tenant}-${name}`;
  return (
    <section aria-labelledby={id} class="card">
      <div class="heading">
        <h2 id={id}>{name}</h2>
        {tenant !== 'default' && <Tag title="The tenant whose events it gets">{tenant}</Tag>}
        {pausedAt && <Tag>paused</Tag>}
        <div class="actions">
          <ActButton webhook={webhook} act="test" onChange={onChange} />
          <ActButton webhook={webhook} act={pausedAt ? 'resume' : 'pause'} onChange={onChange} />
          <ActButton webhook={webhook} act="rotate" onChange={onChange} />
          <ActButton webhook={webhook} act="remove" onChange={onChange} />
        </div>
      </div>
      <p>
        {types.join(', ') || 'All events'} {agents.length > 0 && `of ${agents.join(', ')}`} to <code>{url}</code>
        {webhook.ordered && '; deliveries of a thread one after the other'}
        {webhook.include_result && '; with results'}
        {webhook.template && '; as a body of its own'}.
        <span class="muted">
          {' '}
          Set by {webhook.updated_by}, <Time at={webhook.updated_at} />
        </span>
      </p>
      {pausedAt && (
        <p>
          Paused {reasons[reason ?? ''] ?? reason}, <Time at={pausedAt} />
        </p>
      )}
      {failures > 0 && webhook.failing_since && (
        <p class="bad">
          The last {failures === 1 ? 'attempt has' : `${failures} attempts have`} failed, the first{' '}
          <Time at={webhook.failing_since} />
        </p>
      )}
      {webhook.dropped > 0 && (
        <p class="bad">{webhook.dropped} deliveries were dropped, because too many were waiting</p>
      )}
      <Deliveries webhook={webhook} />
    </section>
  );
}
