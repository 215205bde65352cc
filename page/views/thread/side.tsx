import { get, v1 } from '../../api/client.ts';
import type { Config } from '../../api/types.ts';
import { Facts, Status, Time } from '../../parts/basics.tsx';
import { amount, price, tokens as counted } from '../../parts/format.ts';
import { JsonText } from '../../parts/text.tsx';
import { href } from '../../state/route.ts';
import { useLoaded } from '../../state/use-loaded.ts';
import type { ThreadState } from '../../state/thread.ts';
import { LaneActions } from './lane-actions.tsx';

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
          <li key={run.id}>
            <a href={href('threads', state.id, 'runs', run.id)} class="side-run">
              <span class="side-row">
                <Status status={run.status} />
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

function toolsOf({ tools: { added, removed } }: Config): string | null {
  const changes = [...added.map((name) => `+${name}`), ...removed.map((name) => `−${name}`)];
  return changes.length > 0 ? changes.join(' ') : null;
}
