import { get, v1, post } from '../../api/client.ts';
import type { Config, ListedRun } from '../../api/types.ts';
import { Facts, Status, Time, Empty, Tag } from '../../parts/basics.tsx';
import { amount, price, tokens as counted } from '../../parts/format.ts';
import { JsonText } from '../../parts/message.tsx';
import { href } from '../../state/route.ts';
import { useLoaded } from '../../state/use-loaded.ts';
import type { ThreadState } from '../../state/thread.ts';
import { DialogButton } from '../../parts/dialog.tsx';
import { ForkButton } from './entry-card.tsx';

/** Runs, lanes and configuration beside the conversation, as of the same moment. */
export function Side({ state }: { state: ThreadState }) {
  const thread = state.thread.value!;
  const at = state.at.value;
  const moment = at === null ? undefined : state.entries.value.find(({ seq }) => seq === at)?.at;
  const runs = state.runs.value.filter(({ created_at: created }) => moment === undefined || created <= moment);
  const config = useLoaded<Config>(
    (signal) => get(v1('threads', state.id, 'config'), { at_seq: at, context_ref: thread.active_context_ref }, signal),
    [state.id, at, at === null ? state.head.value : 0],
  );
  const tokens = runs.reduce((sum, { usage }) => sum + (usage?.total_tokens ?? 0), 0);
  const parent = thread.parent_thread_id;
  return (
    <aside class="side" aria-label="Runs, lanes and configuration">
      <h2>Runs</h2>
      <ul class="plain">
        {runs.map((run) => (
          <RunLine key={run.id} state={state} run={run} />
        ))}
      </ul>
      <h2>Thread</h2>
      <Facts
        items={[
          ['Tokens', <span class="num">{amount(tokens)}</span>],
          ['Cost', <span class="num">{price(thread)}</span>],
          ['Tenant', thread.tenant_id],
          ['Created', <Time at={thread.created_at} />],
          ['Forked from', parent && <a href={href('threads', parent, { at: String(thread.fork_seq) })}>{parent}</a>],
          ['Prompt', config.data?.system_prompt && <span class="clamp">{config.data.system_prompt}</span>],
          ['Tools', config.data && toolsOf(config.data)],
        ]}
      />
      {Object.keys(thread.metadata).length > 0 && (
        <details class="fold">
          <summary>Metadata</summary>
          <JsonText value={thread.metadata} />
        </details>
      )}
      {Object.keys(thread.state).length > 0 && (
        <details class="fold">
          <summary>State</summary>
          <JsonText value={thread.state} />
        </details>
      )}
      <h2>Lanes</h2>
      <LaneActions state={state} />
    </aside>
  );
}

/** A run in a list beside its messages: its status, its question, and what it took. */
export const RunLine = ({ state, run }: { state: ThreadState; run: ListedRun }) => (
  <li>
    <a href={href('threads', state.id, 'runs', run.id)} class="side-run">
      <span class="side-row">
        <Status status={run.status} answered={run.answered} />
        <span class="clip" title={run.question ?? run.agent}>
          {run.question ?? run.agent}
        </span>
      </span>
      <span class="side-row muted">
        <span class="clip" title={run.agent}>
          {run.agent}
        </span>
        <span class="num">{counted(run.usage, amount)} tok</span>
        <span class="num">{price(run)}</span>
        <Time at={run.created_at} />
      </span>
    </a>
  </li>
);

function toolsOf({ tools: { added, removed } }: Config): string | null {
  const changes = [...added.map((name) => `+${name}`), ...removed.map((name) => `−${name}`)];
  return changes.length > 0 ? changes.join(' ') : null;
}

/** The lanes of the thread, with the active one marked, and operations on them. */
export function LaneActions({ state }: { state: ThreadState }) {
  const active = state.thread.value!.active_context_ref;
  const switchTo = async (fields: FormData) => void (await state.switchTo(String(fields.get('lane'))));
  const left = new Map(state.branches.lanes.value.map((branch) => [branch.context_ref, branch]));
  const lanes = state.lanes.value;
  return (
    <>
      {lanes.length === 0 && <Empty>No lanes yet.</Empty>}
      <ul class="plain">
        {lanes.map(({ context_ref: name, anchor_seq: anchor }) => {
          const { parent_context_ref: parent, branch_seq: began, branched_after_seq: after } = left.get(name) ?? {};
          return (
            <li key={name} class="side-row">
              <span>{name}</span>
              {parent && <Tag title={`Branch after entry #${after}`}>of {parent}</Tag>}
              {anchor >= 0 && anchor !== began && <Tag title="The context starts at this entry">anchor #{anchor}</Tag>}
              {name === active ? (
                <Tag>active</Tag>
              ) : (
                <a class="end" href={href('threads', state.id, 'compare', { left: active, right: name })}>
                  Compare
                  <span class="hidden"> {name} with the active lane</span>
                </a>
              )}
            </li>
          );
        })}
      </ul>
      <div class="actions">
        <DialogButton title="Switch to a lane" button="Switch" submit="Switch" onSubmit={switchTo}>
          <label>
            <span>Existing or new lane</span>
            <input name="lane" required list="lanes" />
          </label>
          <datalist id="lanes">
            {lanes.map(({ context_ref: name }) => (
              <option key={name} value={name} />
            ))}
          </datalist>
        </DialogButton>
        {lanes.length > 0 && <CompactButton state={state} />}
        <ForkButton state={state} seq={state.shownAt.value} />
      </div>
    </>
  );
}

/** Starts a separate run in which a model summarises the older part of a lane. */
export const CompactButton = ({ state }: { state: ThreadState }) => (
  <DialogButton
    title="Compact a lane"
    button="Compact"
    submit="Compact"
    onSubmit={async (fields) => {
      const turns = String(fields.get('turns'));
      const model = String(fields.get('model')).trim();
      await post(v1('threads', state.id, 'compact'), {
        context_ref: fields.get('lane'),
        ...(turns === '' ? {} : { keep_turns: Number(turns) }),
        ...(model === '' ? {} : { model }),
      });
      await state.refresh();
    }}
  >
    <p>A run replaces the older messages of the lane with a summary by the model. The log stays as it is.</p>
    <label>
      <span>Lane</span>
      <select name="lane">
        {state.lanes.value.map(({ context_ref: name }) => (
          <option key={name} value={name} selected={name === state.thread.value!.active_context_ref}>
            {name}
          </option>
        ))}
      </select>
    </label>
    <label>
      <span>Newest turns to keep (empty: as the policy says)</span>
      <input name="turns" type="number" min={0} max={10000} />
    </label>
    <label>
      <span>Model (empty: the model of the lane’s latest run)</span>
      <input name="model" />
    </label>
  </DialogButton>
);
