import type { Entry, JsonObject, RunSnapshot } from '../../api/types.ts';
import { Time } from '../../parts/basics.tsx';
import { JsonText } from '../../parts/text.tsx';
import { href } from '../../state/route.ts';

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
