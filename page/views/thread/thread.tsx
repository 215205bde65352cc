import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { get, v1 } from '../../api/client.ts';
import type { RunTree } from '../../api/types.ts';
import { Failure, Loading, Status } from '../../parts/basics.tsx';
import { number, fullTime } from '../../parts/format.ts';
import { Heading, WaitingNotice } from '../../parts/heading.tsx';
import { Tabs } from '../../parts/tabs.tsx';
import { allLanes, laneAt } from '../../state/branches.ts';
import { href, route, setQuery } from '../../state/route.ts';
import { ThreadState } from '../../state/thread.ts';
import { useLoaded } from '../../state/use-loaded.ts';
import { CalledBy } from '../run/waterfall.tsx';
import { Composer, Elsewhere } from './composer.tsx';
import { Erased, ThreadMenu } from './thread-menu.tsx';
import { ContextTab } from './context-tab.tsx';
import { Conversation } from './conversation.tsx';
import { Side } from './side.tsx';

/** A thread: its log as a conversation, live or as of any entry, and the actions on it. */
export function ThreadView({ threadId }: { threadId: string }) {
  const state = useThread(threadId);
  const { query } = route.value;
  const narrow = useNarrow();
  if (state.erased.value) return <Erased report={state.erased.value} />;
  const thread = state.thread.value;
  if (!thread) return state.error.value ? <Failure error={state.error.value} /> : <Loading />;
  const asked = query.get('tab');
  const tab = asked === 'context' || (asked === 'details' && narrow) ? asked : 'conversation';
  const given = query.get('lane') ?? '';
  const lane = laneOf(state, given);
  const active = thread.active_context_ref;
  const other = given !== allLanes && given !== '' && given !== active ? given : undefined;
  const latest = state.activeRun.value ?? state.runs.value[0];
  return (
    <article class={tab === 'details' ? 'thread long' : 'thread'} aria-labelledby="title">
      <div class="heading">
        <div>
          <p class="crumbs">
            <a href={href('threads')}>Threads</a>
          </p>
          <Heading title={questionOf(state) ?? thread.id} id={thread.id} />
          <Caller state={state} />
        </div>
        <div class="actions">
          <Status status={latest?.status ?? null} answered={latest?.answered} />
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
            <Tabs<Tab>
              label="Views of the thread"
              tabs={[
                ['conversation', 'Conversation'],
                ['context', 'What the model sees'],
                ...(narrow ? [['details', 'Details'] satisfies [Tab, string]] : []),
              ]}
              current={tab}
              onSelect={(next) => setQuery({ tab: next === 'conversation' ? undefined : next })}
            />
          </div>
          <LaneTabs state={state} given={given} log={tab === 'conversation'} />
          {tab === 'conversation' ? (
            <Conversation state={state} lane={lane} />
          ) : tab === 'context' ? (
            <div class="pane" role="region" aria-label="What the model sees" tabIndex={0}>
              <ContextTab state={state} lane={lane || active} />
            </div>
          ) : (
            <Side state={state} />
          )}
          {tab !== 'details' && (
            <>
              {other !== undefined && state.at.value === null && !state.draft.value && (
                <Elsewhere key={other} state={state} lane={other} />
              )}
              <Composer state={state} lane={other} />
            </>
          )}
        </div>
        {!narrow && <Side state={state} />}
      </div>
    </article>
  );
}

/** The state of a thread, live or as of the entry in the address. */
export function useThread(threadId: string, whole = false): ThreadState {
  const state = useMemo(() => new ThreadState(threadId), [threadId]);
  const given = route.value.query.get('at');
  const at = given === null ? null : Number(given);
  useEffect(() => {
    state.branches.whole = whole;
    void state.open(at);
    return () => state.close();
  }, [state]);
  // follows a link to another entry of the thread, or the way back
  useEffect(() => {
    if (state.thread.value && state.at.value !== at) void state.seek(at);
  }, [at]);
  return state;
}

/** The lane to show: the chosen one, or the active one of a thread with branches; empty: the log of all lanes. */
function laneOf(state: ThreadState, given: string): string {
  const { lanes, any } = state.branches;
  if (given === allLanes || (given === '' && !any.value)) return '';
  return laneAt(lanes.value, given || state.thread.value!.active_context_ref, state.shownAt.value);
}

type Tab = 'conversation' | 'context' | 'details';

const small = matchMedia('(width < 60rem)');

/** Whether the window has no room for what stands beside the conversation. */
function useNarrow(): boolean {
  const narrow = useSignal(small.matches);
  useEffect(() => {
    const look = () => (narrow.value = small.matches);
    small.addEventListener('change', look);
    return () => small.removeEventListener('change', look);
  }, []);
  return narrow.value;
}

/** Leads to the run whose call has started the run of this thread. */
function Caller({ state }: { state: ThreadState }) {
  const child = state.runs.value.find(({ parent }) => parent !== null);
  return child ? <CallerOf threadId={state.id} runId={child.id} /> : null;
}

function CallerOf({ threadId, runId }: { threadId: string; runId: string }) {
  const loaded = useLoaded<RunTree>((signal) => get(v1('threads', threadId, 'runs', runId, 'tree'), {}, signal), []);
  return loaded.data ? <CalledBy tree={loaded.data} runId={runId} /> : null;
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

const settleMs = 120;

/** Moves the whole view to an earlier moment of the log. */
export function Slider({ state }: { state: ThreadState }) {
  const timer = useRef(0);
  const head = state.head.value;
  if (head < 1) return null;
  const at = state.shownAt.value;
  const entry = state.entries.value.find(({ seq }) => seq === at);
  const go = (to: number | null) => {
    setQuery({ at: to === null ? undefined : String(to) });
    void state.seek(to);
  };
  // Dragging passes many entries, so read only once the reader stops.
  const drag = (to: number) => {
    state.at.value = to;
    clearTimeout(timer.current);
    timer.current = setTimeout(() => go(to), settleMs) as unknown as number;
  };
  const past = state.at.value !== null;
  return (
    <div class={past ? 'slider past' : 'slider'}>
      <label for="at">As of entry</label>
      <button type="button" class="small" aria-label="One entry back" disabled={at <= 0} onClick={() => go(at - 1)}>
        ‹
      </button>
      <input
        id="at"
        type="range"
        min={0}
        max={head}
        value={at}
        aria-valuetext={`entry ${at} of ${head}`}
        onInput={(event) => drag(Number(event.currentTarget.value))}
      />
      <button
        type="button"
        class="small"
        aria-label="One entry forward"
        disabled={at >= head}
        onClick={() => go(at + 1)}
      >
        ›
      </button>
      <output for="at" class="num">
        {number(at)} / {number(head)}
      </output>
      <span class="muted when">{entry ? fullTime(entry.at) : ''}</span>
      <button type="button" class="small" disabled={!past} onClick={() => go(null)}>
        Now
      </button>
    </div>
  );
}

/** Tabs for the lanes of a thread with more than one; `log`: also one for the log of all lanes. */
function LaneTabs({ state, given, log }: { state: ThreadState; given: string; log: boolean }) {
  const names = state.lanes.value.map(({ context_ref: name }) => name);
  if (names.length < 2 && given === '') return null;
  const known = given === '' || given === allLanes || names.includes(given) ? names : [...names, given];
  const branched = state.branches.any.value;
  // what a thread without branches has said is read as a whole
  const first = log && !branched ? 'All lanes' : `Active (${state.thread.value!.active_context_ref})`;
  const last: [string, string][] = log && branched ? [[allLanes, 'All lanes']] : [];
  return (
    <Tabs
      label="Lanes"
      group="lane"
      tabs={[['', first], ...known.map((name): [string, string] => [name, name]), ...last]}
      current={!last.length && given === allLanes ? '' : given}
      onSelect={(next) => setQuery({ lane: next || undefined })}
    />
  );
}
