import { useSignal } from '@preact/signals';
import { get, v1 } from '../../api/client.ts';
import type { CallReplay, ModelCall } from '../../api/types.ts';
import { Empty, Facts, Failure, Loading, Tag, Time } from '../../parts/basics.tsx';
import { duration, number, percent } from '../../parts/format.ts';
import { Heading } from '../../parts/heading.tsx';
import { onDemand } from '../../parts/on-demand.tsx';
import { Tabs } from '../../parts/tabs.tsx';
import { JsonText, Text } from '../../parts/text.tsx';
import { href } from '../../state/route.ts';
import { useLoaded } from '../../state/use-loaded.ts';
import { DiffTab } from './diff-tab.tsx';
import { HashBadge } from './hash-badge.tsx';
import type { KeepCaseProps } from './keep-case.tsx';
import { LeftOut } from './left-out.tsx';
import { MessageList } from './message-list.tsx';
import { PrefixBreak } from './prefix-break.tsx';
import type { ReplayTabProps } from './replay-tab.tsx';

const KeepCase = onDemand<KeepCaseProps>(async () => (await import('./keep-case.tsx')).KeepCase);
const ReplayTab = onDemand<ReplayTabProps>(async () => (await import('./replay-tab.tsx')).ReplayTab);

/** Finish reasons of a complete answer. */
const whole = new Set(['stop', 'tool_calls']);

/** One model call: the exact request, the changes since the previous call, and the answer. */
export function CallView({ threadId, callId }: { threadId: string; callId: string }) {
  const loaded = useLoaded<ModelCall>((signal) => get(v1('threads', threadId, 'calls', callId), {}, signal), []);
  const tab = useSignal<'sent' | 'diff' | 'answer' | 'tools' | 'replay'>('sent');
  const replays = useSignal<CallReplay[]>([]);
  const call = loaded.data;
  if (loaded.error) return <Failure error={loaded.error} />;
  if (!call) return <Loading />;
  const usage = call.usage;
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
        <nav class="actions" aria-label="Calls of the lane">
          <Neighbour threadId={threadId} id={call.previous_call_id} title="‹ Previous call" />
          <Neighbour threadId={threadId} id={call.next_call_id} title="Next call ›" />
        </nav>
      </div>
      <HashBadge call={call} />
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
          ['Answer', <a href={href('threads', threadId, { at: String(call.seq) })}>entry #{call.seq}</a>],
        ]}
      />
      <KeepCase call={call} />
      <LeftOut call={call} />
      <PrefixBreak call={call} />
      <Tabs
        label="Parts of the call"
        tabs={[
          ['sent', `Messages (${call.messages.length})`],
          ['diff', 'Diff to previous call'],
          ['answer', 'Answer'],
          ['tools', `Tools (${call.tools?.length ?? '?'})`],
          ['replay', 'Replay'],
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
            inputTokens={usage?.input_tokens}
          />
        )}
        {tab.value === 'diff' && <DiffTab call={call} />}
        {tab.value === 'answer' && <JsonText value={call.answer} />}
        {tab.value === 'tools' && <Tools call={call} />}
        {tab.value === 'replay' && <ReplayTab call={call} replays={replays} />}
      </div>
      {call.failed_attempts.length > 0 && (
        <section>
          <h2>Failed attempts</h2>
          {call.failed_attempts.map((attempt, index) => (
            <details key={index} class="fold">
              <summary>
                {attempt.kind === 'llm_lost' ? 'Lost with its worker' : 'Failed and retried'} <Time at={attempt.at} />
              </summary>
              <JsonText value={attempt.data} />
            </details>
          ))}
        </section>
      )}
    </article>
  );
}

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
