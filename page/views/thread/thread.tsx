import { useEffect, useMemo } from 'preact/hooks';
import { Failure, Loading, Status } from '../../parts/basics.tsx';
import { number } from '../../parts/format.ts';
import { Heading } from '../../parts/heading.tsx';
import { WaitingNotice } from '../../parts/waiting-notice.tsx';
import { Tabs } from '../../parts/tabs.tsx';
import { href, route, setQuery } from '../../state/route.ts';
import { ThreadState } from '../../state/thread.ts';
import { Composer } from './composer.tsx';
import { Erased } from './erase-button.tsx';
import { ContextTab } from './context-tab.tsx';
import { Conversation } from './conversation.tsx';
import { Side } from './side.tsx';
import { Slider } from './slider.tsx';
import { LaneTabs } from './lane-tabs.tsx';
import { ThreadMenu } from './thread-menu.tsx';

/** A thread: its log as a conversation, live or as of any entry, and the actions on it. */
export function ThreadView({ threadId }: { threadId: string }) {
  const state = useMemo(() => new ThreadState(threadId), [threadId]);
  const { query } = route.value;
  const given = query.get('at');
  const at = given === null ? null : Number(given);
  useEffect(() => {
    void state.open(at);
    return () => state.close();
  }, [state]);
  // follows a link to another entry of the thread, or the way back
  useEffect(() => {
    if (state.thread.value && state.at.value !== at) void state.seek(at);
  }, [at]);
  if (state.erased.value) return <Erased report={state.erased.value} />;
  const thread = state.thread.value;
  if (!thread) return state.error.value ? <Failure error={state.error.value} /> : <Loading />;
  const tab = query.get('tab') === 'context' ? 'context' : 'conversation';
  const lane = query.get('lane') ?? '';
  const status = state.activeRun.value?.status ?? state.runs.value[0]?.status ?? null;
  return (
    <article class="thread" aria-labelledby="title">
      <div class="heading">
        <div>
          <p class="crumbs">
            <a href={href('threads')}>Threads</a>
          </p>
          <Heading title={questionOf(state) ?? thread.id} id={thread.id} />
        </div>
        <div class="actions">
          <Status status={status} />
          <span class="muted num">{number(thread.rev)} entries</span>
          <Live state={state} />
          <ThreadMenu state={state} />
        </div>
      </div>
      <Failure error={state.error.value} />
      <WaitingNotice runs={state.runs.value.map((run) => [run.status, run.agent, run.start_at])} />
      <Slider state={state} />
      <div class="columns">
        <div class="main-column">
          <div class="toolbar">
            <Tabs
              label="Views of the thread"
              tabs={[
                ['conversation', 'Conversation'],
                ['context', 'What the model sees'],
              ]}
              current={tab}
              onSelect={(next) => setQuery({ tab: next === 'conversation' ? undefined : next })}
            />
          </div>
          <LaneTabs
            state={state}
            lane={lane}
            all={tab === 'context' ? `Active (${thread.active_context_ref})` : 'All lanes'}
          />
          {tab === 'conversation' ? (
            <Conversation state={state} lane={lane} />
          ) : (
            <ContextTab state={state} lane={lane || thread.active_context_ref} />
          )}
          <Composer state={state} />
        </div>
        <Side state={state} />
      </div>
    </article>
  );
}

/** The latest question, as in the list of threads. */
const questionOf = (state: ThreadState): string | undefined =>
  state.runs.value.find(({ question }) => question?.trim())?.question ?? undefined;

const Live = ({ state }: { state: ThreadState }) => (
  <button
    type="button"
    aria-pressed={state.paused.value}
    onClick={() => (state.paused.value ? state.resume() : (state.paused.value = true))}
  >
    <span class={`dot ${state.connected.value && !state.paused.value ? 'on' : ''}`} aria-hidden="true" />
    {state.paused.value ? 'Resume' : state.connected.value ? 'Live: pause' : 'Connecting…'}
  </button>
);
