import type { Entry, JsonObject, RunSnapshot, TreeRun } from '../../api/types.ts';
import { Tag, Time } from '../../parts/basics.tsx';
import { duration, fullTime } from '../../parts/format.ts';
import { HeldBy } from '../../parts/held-by.tsx';
import { MessageBody, JsonText } from '../../parts/message.tsx';
import { href } from '../../state/route.ts';

type Call = RunSnapshot['tool_calls'][number];

const bad = new Set(['error', 'unknown', 'denied', 'abandoned']);

/**
 * The tool calls of a run. Flags a call repeated with the same arguments, because the model may be going in circles.
 */
export function ToolCalls({ calls, started = [] }: { calls: Call[]; started?: TreeRun[] | undefined }) {
  if (calls.length === 0) return null;
  const made = new Map<string, Call>();
  return (
    <section aria-labelledby="tools">
      <h2 id="tools">Tool calls</h2>
      {calls.map((call) => {
        const key = JSON.stringify([call.name, call.arguments]);
        const first = made.get(key) ?? call;
        made.set(key, first);
        const child = started.find(({ parent }) => parent?.round === call.round && parent.index === call.index);
        return (
          <details key={`${call.round}.${call.index}`} class="fold">
            <summary>
              <span class="tool-name">{call.name}</span> <Tag bad={bad.has(call.status)}>{call.status}</Tag>{' '}
              {first.round < call.round && <Tag bad>same as in round {first.round}</Tag>}
              {call.attempts > 1 && <span class="muted"> {call.attempts} attempts</span>}
              {call.duration_ms !== null && <span class="muted num"> {duration(call.duration_ms)}</span>}
            </summary>
            {child && (
              <p>
                Started a <a href={href('threads', child.thread_id, 'runs', child.id)}>run of {child.agent}</a> in{' '}
                <a href={href('threads', child.thread_id)}>a thread of its own</a>
              </p>
            )}
            <JsonText value={call.arguments} />
            {call.result !== null && <MessageBody message={{ role: 'tool', content: call.result }} />}
          </details>
        );
      })}
    </section>
  );
}

interface Props {
  threadId: string;
  calls: RunSnapshot['tool_calls'];
  entries: Entry[];
}

/** Changes of the thread state by the tools of a run, one entry per round. */
export const Effects = ({ threadId, calls, entries }: Props) => (
  <section aria-labelledby="effects">
    <h2 id="effects">Effects on state</h2>
    <ul class="plain">
      {entries.map(({ seq, at, payload, refs }) => (
        <li key={seq} class="entry tool">
          <div class="entry-head">
            <span class="role">after model call {Number(refs['iteration'])}</span>
            <a href={href('threads', threadId, { at: String(seq) })}>Entry #{seq}</a>
            <Time at={at} />
          </div>
          {(payload['operations'] as JsonObject[]).map(({ call_index: of, ...operation }, index) => (
            <div key={index}>
              <span class="tool-name">
                {calls.find((call) => call.round === refs['iteration'] && call.index === of)?.name}
              </span>
              <JsonText value={operation} />
            </div>
          ))}
        </li>
      ))}
    </ul>
  </section>
);

/** Says which limit a run waits for, or which model. */
export const LimitWait = ({ waiting }: { waiting: RunSnapshot['limited_by'] }) =>
  waiting && (
    <p class="notice" role="status">
      {waiting.circuit === undefined ? 'Waits for the limit ' : 'Waits until calls are made again of '}
      <a href={href('limits')}>{waiting.circuit ?? waiting.limit}</a>
      {waiting.key && ` (${waiting.key})`} since <Time at={waiting.since} />
      {waiting.until && `, at least until ${fullTime(waiting.until)}`}.{' '}
      {waiting.limit !== undefined && <HeldBy limit={waiting.limit} />}
    </p>
  );
