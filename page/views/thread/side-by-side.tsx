import type { ComponentChild } from 'preact';
import type { ContextMessage, Entry, ListedRun } from '../../api/types.ts';
import { Empty, Facts, Failure, Loading } from '../../parts/basics.tsx';
import { amount, number, price } from '../../parts/format.ts';
import { Heading } from '../../parts/heading.tsx';
import { Tabs } from '../../parts/tabs.tsx';
import { holds, laneAt, pathOf, type Path, type Placed } from '../../state/branches.ts';
import { href, route, setQuery } from '../../state/route.ts';
import { listedRuns, type ThreadState } from '../../state/thread.ts';
import { InCommon } from '../call/message-list.tsx';
import { ContextMessages, useContext } from './context-tab.tsx';
import { EntryCard } from './entry-card.tsx';
import { RunLine } from './side.tsx';
import { Slider, useThread } from './thread.tsx';

type Tab = 'messages' | 'context';

/** Two branches of a thread: what they share, and where they part. The address says which, as of which entry. */
export function CompareView({ threadId }: { threadId: string }) {
  const state = useThread(threadId, true);
  const { query } = route.value;
  const thread = state.thread.value;
  if (!thread) return state.error.value ? <Failure error={state.error.value} /> : <Loading />;
  const right = query.get('right') ?? thread.active_context_ref;
  const left =
    query.get('left') ?? state.lanes.value.find(({ context_ref: name }) => name !== right)?.context_ref ?? right;
  const tab: Tab = query.get('tab') === 'context' ? 'context' : 'messages';
  return (
    <article aria-labelledby="title">
      <div class="heading">
        <div>
          <p class="crumbs">
            <a href={href('threads', threadId)}>{threadId}</a>
          </p>
          <Heading title={`${left} compared with ${right}`} />
        </div>
      </div>
      <Failure error={state.error.value} />
      <Slider state={state} />
      <Tabs<Tab>
        label="Views of the comparison"
        tabs={[
          ['messages', 'Messages'],
          ['context', 'What the model sees'],
        ]}
        current={tab}
        onSelect={(next) => setQuery({ tab: next === 'messages' ? undefined : next })}
      />
      {tab === 'messages' ? (
        <Messages state={state} lanes={[left, right]} />
      ) : (
        <Contexts state={state} lanes={[left, right]} />
      )}
    </article>
  );
}

interface Two {
  state: ThreadState;
  lanes: [left: string, right: string];
}

/** A column for each branch, with a choice of the branch above. */
const Columns = ({ state, lanes, render }: Two & { render: (lane: string, at: 0 | 1) => ComponentChild }) => (
  <div class="columns even">
    {(['left', 'right'] as const).map((side, at) => (
      <section key={side} class="branch" aria-label={`The ${side} branch`}>
        <label>
          <span class="hidden">The {side} branch</span>
          <select value={lanes[at]} onChange={(event) => setQuery({ [side]: event.currentTarget.value })}>
            {[...new Set([...state.lanes.value.map(({ context_ref: name }) => name), lanes[at]!])].map((name) => (
              <option key={name} value={name}>
                {name}
                {name === state.thread.value!.active_context_ref ? ' (active)' : ''}
              </option>
            ))}
          </select>
        </label>
        {render(lanes[at]!, at as 0 | 1)}
      </section>
    ))}
  </div>
);

/** What the log has of both: the messages in common, folded, and what each has alone. */
function Messages({ state, lanes }: Two) {
  const [left, right] = lanes.map((lane) => pathOf(state.branches.lanes.value, lane)) as [Path, Path];
  const at = state.shownAt.value;
  const shared = (one: Placed) => one.seq <= at && holds(left, one) && holds(right, one);
  const count = state.branches.messages.value.filter(shared).length;
  if (lanes[0] === lanes[1])
    return <Columns state={state} lanes={lanes} render={() => <Empty>The same branch.</Empty>} />;
  const messages = state.entries.value.filter((one) => one.kind === 'ai_message' && shared(one));
  return (
    <>
      {count === 0 ? (
        <p class="muted">No messages in common</p>
      ) : (
        <InCommon count={count}>
          <Earlier state={state} />
          <Cards state={state} entries={messages} />
        </InCommon>
      )}
      <Columns
        state={state}
        lanes={lanes}
        render={(lane, side) => (
          <Own
            state={state}
            lane={lane}
            has={(one) => one.seq <= at && holds([left, right][side]!, one) && !holds([right, left][side]!, one)}
          />
        )}
      />
    </>
  );
}

/** What one branch has and the other one has not: its runs, and its entries. */
function Own({ state, lane, has }: { state: ThreadState; lane: string; has: (one: Placed) => boolean }) {
  const tree = state.branches.messages.value;
  const messages = tree.filter(has);
  const wrote = new Set(messages.map(({ run_id: id }) => id));
  const known = new Set(tree.map(({ run_id: id }) => id));
  const live = state.at.value === null;
  // a run that waits has written nothing yet
  const runs = state.runs.value.filter(
    ({ id, context_ref: of }) => wrote.has(id) || (live && of === lane && !known.has(id)),
  );
  const unlisted = [...wrote].filter((id) => id !== null && !runs.some((run) => run.id === id)).length;
  const first = messages[0]?.seq;
  return (
    <>
      <Spent runs={runs} messages={messages.length} />
      {runs.length > 0 && (
        <ul class="plain">
          {runs.map((run) => (
            <RunLine key={run.id} state={state} run={run} />
          ))}
        </ul>
      )}
      {unlisted > 0 && (
        <p class="muted">
          {number(unlisted)} more are not among the newest {listedRuns} runs of the thread.
        </p>
      )}
      {first !== undefined && first < (state.entries.value[0]?.seq ?? 0) && <Earlier state={state} />}
      <Cards state={state} entries={state.entries.value.filter(has)} branch={lane} />
    </>
  );
}

/** What the model sees on both, as of the displayed moment; the messages that both begin with are folded. */
function Contexts({ state, lanes }: Two) {
  const of = (lane: string) => laneAt(state.branches.lanes.value, lane, state.shownAt.value);
  const contexts = [useContext(state, of(lanes[0])), useContext(state, of(lanes[1]))] as const;
  const [left, right] = contexts.map(({ data }) => data?.messages.map(said));
  const parts = left?.findIndex((message, index) => message !== right?.[index]) ?? 0;
  const common = parts < 0 ? left!.length : parts;
  return (
    <Columns
      state={state}
      lanes={lanes}
      render={(_, side) => <ContextMessages state={state} context={contexts[side]} common={common} />}
    />
  );
}

/** What a model reads of a message: the copy of an anchor reads as the message itself. */
const said = ({ role, content, tool_calls: calls, tool_call_id: call, name, thinking }: ContextMessage): string =>
  JSON.stringify([role, content, calls, call, name, thinking]);

const Spent = ({ runs, messages }: { runs: ListedRun[]; messages: number }) => {
  const costs = runs.flatMap(({ cost }) => cost ?? []);
  return (
    <Facts
      items={[
        ['Messages', <span class="num">{number(messages)}</span>],
        ['Runs', <span class="num">{number(runs.length)}</span>],
        [
          'Tokens',
          <span class="num">{amount(runs.reduce((sum, { usage }) => sum + (usage?.total_tokens ?? 0), 0))}</span>,
        ],
        [
          'Cost',
          <span class="num">
            {price({
              cost: costs.length > 0 ? costs.reduce((sum, cost) => sum + cost, 0) : null,
              unpriced_tokens: runs.reduce((sum, { unpriced_tokens: tokens }) => sum + tokens, 0),
            })}
          </span>,
        ],
      ]}
    />
  );
};

const Cards = ({ state, entries, branch }: { state: ThreadState; entries: Entry[]; branch?: string }) => (
  <ol class="messages plain">
    {entries.map((entry) => (
      <li key={entry.seq}>
        <EntryCard entry={entry} state={state} branch={branch} />
      </li>
    ))}
  </ol>
);

/** Reads what the page has not read yet. */
function Earlier({ state }: { state: ThreadState }) {
  const first = state.entries.value[0]?.seq ?? 0;
  if (first === 0) return null;
  return (
    <button type="button" class="more" onClick={() => void state.showEarlier()}>
      Show entries before #{first}
    </button>
  );
}
