import { useSignal } from '@preact/signals';
import { get, v1 } from '../../api/client.ts';
import type { ModelCall, Message } from '../../api/types.ts';
import { Empty, Facts, Failure, Loading, Tag, Time } from '../../parts/basics.tsx';
import { duration, number, percent } from '../../parts/format.ts';
import { Heading } from '../../parts/heading.tsx';
import { onDemand } from '../../parts/on-demand.tsx';
import { Tabs } from '../../parts/tabs.tsx';
import { JsonText, Text } from '../../parts/message.tsx';
import { href, route } from '../../state/route.ts';
import { useLoaded } from '../../state/use-loaded.ts';
import { DiffTab } from './diff-tab.tsx';
import type { KeepCaseProps } from './keep-case.tsx';
import { LeftOut, MessageList } from './message-list.tsx';
import type { PlaygroundProps } from './playground.tsx';
import { useEffect } from 'preact/hooks';
import canonicalize from 'canonicalize';
import { causes } from '../marks/marks.tsx';

const KeepCase = onDemand<KeepCaseProps>(async () => (await import('./keep-case.tsx')).KeepCase);
const Playground = onDemand<PlaygroundProps>(async () => (await import('./playground.tsx')).Playground);

/** Finish reasons of a complete answer. */
const whole = new Set(['stop', 'tool_calls']);

type Part = 'sent' | 'diff' | 'answer' | 'tools' | 'playground';

/** One model call: the exact request, the changes since the previous call, and the answer. */
export function CallView({ threadId, callId }: { threadId: string; callId: string }) {
  const loaded = useLoaded<ModelCall>((signal) => get(v1('threads', threadId, 'calls', callId), {}, signal), []);
  const tab = useSignal<Part>(route.value.query.has('trial') ? 'playground' : 'sent');
  const call = loaded.data;
  if (loaded.error) return <Failure error={loaded.error} />;
  if (!call) return <Loading />;
  return (
    <article aria-labelledby="title" data-call={call.llm_call_id}>
      <div class="heading">
        <div>
          <p class="crumbs">
            <a href={href('threads', threadId)}>{threadId}</a> ›{' '}
            <a href={href('threads', threadId, 'runs', call.run_id)}>{call.run_id}</a>
          </p>
          <Heading title={`Model call ${call.iteration} of run`} id={call.run_id} />
        </div>
        <nav class="actions calls" aria-label="Calls of the lane">
          <Neighbour threadId={threadId} id={call.previous_call_id} title="‹ Previous call" />
          <Neighbour threadId={threadId} id={call.next_call_id} title="Next call ›" />
        </nav>
      </div>
      <HashBadge call={call} />
      <CallFacts call={call} />
      <KeepCase call={call} asks="call" />
      <LeftOut call={call} />
      <PrefixBreak call={call} />
      <Tabs
        label="Parts of the call"
        tabs={[
          ['sent', `Messages (${call.messages.length})`],
          ['diff', 'Diff to previous call'],
          ['answer', 'Answer'],
          ['tools', `Tools (${call.tools?.length ?? '?'})`],
          ['playground', 'Playground'],
        ]}
        current={tab.value}
        onSelect={(next) => (tab.value = next)}
      />
      <div role="tabpanel" aria-labelledby={`tab-${tab.value}`}>
        {tab.value === 'sent' && (
          <MessageList
            messages={call.messages}
            sources={call.sources}
            sourceHref={(seq) => href('threads', threadId, { at: String(seq) })}
            inputTokens={call.usage?.input_tokens}
          />
        )}
        {tab.value === 'diff' && <DiffTab call={call} />}
        {tab.value === 'answer' && <JsonText value={call.answer} />}
        {tab.value === 'tools' && <Tools call={call} />}
        {tab.value === 'playground' && <Playground call={call} />}
      </div>
      {call.failed_attempts.length > 0 && <FailedAttempts call={call} />}
    </article>
  );
}

const CallFacts = ({ call }: { call: ModelCall }) => {
  const { usage } = call;
  return (
    <Facts
      items={[
        ['Model', call.model],
        ['Agent', call.agent],
        ['Lane', call.context_ref],
        ['Input', usage && <span class="num">{number(usage.input_tokens)} tokens</span>],
        [
          'Share of window',
          usage && call.window && <span class="num">{percent(usage.input_tokens / call.window)}</span>,
        ],
        ['Cached input', usage?.cache_read_tokens && <span class="num">{number(usage.cache_read_tokens)}</span>],
        ['Output', usage && <span class="num">{number(usage.output_tokens)} tokens</span>],
        [
          'Estimated tokens',
          usage?.estimated_tokens && <span class="num">{number(usage.estimated_tokens)} of these</span>,
        ],
        ['Duration', call.duration_ms === null ? null : duration(call.duration_ms)],
        [
          'Finish reason',
          call.finish_reason && <span class={whole.has(call.finish_reason) ? '' : 'bad'}>{call.finish_reason}</span>,
        ],
        ['Failed attempts', call.failed_attempts.length || null],
        ['Answered', <Time at={call.completed_at} />],
        ['Answer', <a href={href('threads', call.thread_id, { at: String(call.seq) })}>entry #{call.seq}</a>],
      ]}
    />
  );
};

/** A chain of models says which one failed, and which one was asked next. */
const failedAs = ({ model, next_model: next }: ModelCall['failed_attempts'][number]['data']): string =>
  typeof model !== 'string'
    ? 'Failed and retried'
    : model === next
      ? `${model} failed`
      : `${model} failed, then ${String(next)}`;

const FailedAttempts = ({ call }: { call: ModelCall }) => (
  <section>
    <h2>Failed attempts</h2>
    {call.failed_attempts.map((attempt, index) => (
      <details key={index} class="fold">
        <summary>
          {attempt.kind === 'llm_lost' ? 'Lost with its worker' : failedAs(attempt.data)} <Time at={attempt.at} />
        </summary>
        <JsonText value={attempt.data} />
      </details>
    ))}
  </section>
);

const Neighbour = ({ threadId, id, title }: { threadId: string; id: string | null; title: string }) =>
  id === null ? <span class="muted">{title}</span> : <a href={href('threads', threadId, 'calls', id)}>{title}</a>;

function Tools({ call }: { call: ModelCall }) {
  if (call.tools === null) return <Empty>This server does not know the agent {call.agent}.</Empty>;
  if (call.tools.length === 0) return <Empty>No tools were offered.</Empty>;
  return (
    <>
      {call.tools.map((tool) => (
        <details key={tool.name} class="fold">
          <summary>
            <Tag>{tool.name}</Tag> {tool.description?.slice(0, 120)}
          </summary>
          {tool.description && <Text text={tool.description} />}
          <JsonText value={tool.input_schema} />
        </details>
      ))}
    </>
  );
}

const words: Record<Verdict, string> = {
  verified: 'Hash verified',
  altered: 'Hash differs',
  unknown: 'Hash not checked: requires HTTPS',
};

const reasons = {
  transformed:
    'A request transformer changed these messages before they were sent, and the log does not have the result.',
  output_contract: 'The call also sent the instructions of its output contract, which this server does not know.',
  mismatch: 'These messages are not the ones that were sent.',
};

/** Shows whether the displayed messages are byte for byte what was sent. */
export function HashBadge({ call }: { call: ModelCall }) {
  const verdict = useSignal<Verdict | undefined>(undefined);
  useEffect(() => {
    void verify(call.messages, call.context_hash).then((found) => (verdict.value = found));
  }, [call]);
  if (verdict.value === undefined) return <span class="status idle">Checking…</span>;
  const tone = verdict.value === 'verified' ? 'good' : verdict.value === 'altered' ? 'bad' : 'idle';
  return (
    <span class="hash">
      <span class={`status ${tone}`} data-verdict={verdict.value}>
        {words[verdict.value]}
      </span>
      <code title={`SHA-256 ${call.context_hash}`}>{call.context_hash.slice(0, 12)}</code>
      {verdict.value === 'altered' && <span class="why">{reasons[call.unverified_because ?? 'mismatch']}</span>}
    </span>
  );
}

export type Verdict = 'verified' | 'altered' | 'unknown';

/**
 * Whether messages have the recorded hash: SHA-256 over the canonical JSON (RFC 8785) of each, followed by a newline.
 * The browser computes it itself, from the bytes it shows. `unknown`: the browser offers no cryptography, because the
 * page was loaded over plain HTTP from another host.
 */
export async function verify(messages: Message[], recorded: string): Promise<Verdict> {
  if (!globalThis.crypto?.subtle) return 'unknown';
  const bytes = new TextEncoder().encode(messages.map((message) => `${canonicalize(message)}\n`).join(''));
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  const hex = [...digest].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex === recorded ? 'verified' : 'altered';
}

/** Where the prefix shared with the previous call, and thus the provider's cache, ends, and why. */
export function PrefixBreak({ call: { thread_id: threadId, prefix_break: broken } }: { call: ModelCall }) {
  if (broken === null) return null;
  const cause = causes[broken.cause];
  return (
    <div class="notice">
      Cache missed from message {broken.position + 1} on, where this call differs from the previous one:{' '}
      {broken.cause === 'policy' || broken.cause === 'fallback' ? (
        cause
      ) : (
        <a href={href('threads', threadId, { at: String(broken.seq) })}>
          {cause} at entry #{broken.seq}
        </a>
      )}
      .
    </div>
  );
}
