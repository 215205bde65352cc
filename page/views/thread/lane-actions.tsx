import { post, v1 } from '../../api/client.ts';
import type { Json } from '../../api/types.ts';
import { Empty, Tag } from '../../parts/basics.tsx';
import { DialogButton } from '../../parts/dialog.tsx';
import type { ThreadState } from '../../state/thread.ts';
import { CompactButton } from './compact-button.tsx';
import { ForkButton } from './fork-button.tsx';

/** The lanes of the thread, which of them is active, and the operations on them. */
export function LaneActions({ state }: { state: ThreadState }) {
  const active = state.thread.value!.active_context_ref;
  const operate = async (contextRef: string, operation: Json) => {
    await post(v1('threads', state.id, 'context-operations'), { context_ref: contextRef, operation });
    await state.refresh();
  };
  const lanes = state.lanes.value;
  return (
    <>
      {lanes.length === 0 && <Empty>No lane yet.</Empty>}
      <ul class="plain">
        {lanes.map(({ context_ref: name, anchor_seq: anchor }) => (
          <li key={name} class="side-row">
            <span>{name}</span>
            {anchor >= 0 && <Tag title="The context starts at this entry">anchor #{anchor}</Tag>}
            {name === active && <Tag>active</Tag>}
          </li>
        ))}
      </ul>
      <div class="actions">
        <DialogButton
          title="Switch to a lane"
          button="Switch"
          submit="Switch"
          onSubmit={(fields) => operate(String(fields.get('lane')), { type: 'switch' })}
        >
          <label>
            <span>Lane, an existing one or a new one</span>
            <input name="lane" required list="lanes" />
          </label>
          <datalist id="lanes">
            {lanes.map(({ context_ref: name }) => (
              <option key={name} value={name} />
            ))}
          </datalist>
        </DialogButton>
        <DialogButton
          title="Replace the context"
          button="Replace"
          submit="Replace"
          onSubmit={(fields) => {
            const text = String(fields.get('summary')).trim();
            const prompt = String(fields.get('prompt')).trim();
            const context = {
              entries: text === '' ? [] : [{ role: 'user', content: text }],
              ...(prompt === '' ? {} : { system_prompt: prompt }),
            };
            return operate(String(fields.get('lane')), { type: 'replace', result_context: context });
          }}
        >
          <p>The log stays as it is: what the model sees starts again from here.</p>
          <label>
            <span>Lane</span>
            <input name="lane" required value={active} />
          </label>
          <label>
            <span>Message to begin with; none empties the lane</span>
            <textarea name="summary" rows={5} />
          </label>
          <label>
            <span>System prompt; none keeps the present one</span>
            <textarea name="prompt" rows={2} />
          </label>
        </DialogButton>
        {lanes.length > 0 && <CompactButton state={state} />}
        <ForkButton state={state} seq={state.shownAt.value} />
      </div>
    </>
  );
}
