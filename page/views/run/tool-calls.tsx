import type { RunSnapshot } from '../../api/types.ts';
import { Tag } from '../../parts/basics.tsx';
import { duration } from '../../parts/format.ts';
import { MessageBody } from '../../parts/message.tsx';
import { JsonText } from '../../parts/text.tsx';

type Call = RunSnapshot['tool_calls'][number];

const bad = new Set(['error', 'unknown', 'denied', 'abandoned']);

/**
 * The tool calls of a run. Flags a call repeated with the same arguments, because the model may be going in circles.
 */
export function ToolCalls({ calls }: { calls: Call[] }) {
  if (calls.length === 0) return null;
  const made = new Map<string, Call>();
  return (
    <section aria-labelledby="tools">
      <h2 id="tools">Tool calls</h2>
      {calls.map((call) => {
        const key = JSON.stringify([call.name, call.arguments]);
        const first = made.get(key) ?? call;
        made.set(key, first);
        return (
          <details key={`${call.round}.${call.index}`} class="fold">
            <summary>
              <span class="tool-name">{call.name}</span> <Tag bad={bad.has(call.status)}>{call.status}</Tag>{' '}
              {first.round < call.round && <Tag bad>same as in round {first.round}</Tag>}
              {call.attempts > 1 && <span class="muted"> {call.attempts} attempts</span>}
              {call.duration_ms !== null && <span class="muted num"> {duration(call.duration_ms)}</span>}
            </summary>
            <JsonText value={call.arguments} />
            {call.result !== null && <MessageBody message={{ role: 'tool', content: call.result }} />}
          </details>
        );
      })}
    </section>
  );
}
