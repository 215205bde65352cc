import { post, v1 } from '../../api/client.ts';
import { DialogButton } from '../../parts/dialog.tsx';
import type { ThreadState } from '../../state/thread.ts';

/** Restarts the context of a lane, with a message or empty. */
export const ReplaceButton = ({ state }: { state: ThreadState }) => (
  <DialogButton
    title="Replace the context"
    button="Replace the context"
    submit="Replace"
    kind="danger"
    onSubmit={async (fields) => {
      const text = String(fields.get('summary')).trim();
      const prompt = String(fields.get('prompt')).trim();
      const context = {
        entries: text === '' ? [] : [{ role: 'user', content: text }],
        ...(prompt === '' ? {} : { system_prompt: prompt }),
      };
      await post(v1('threads', state.id, 'context-operations'), {
        context_ref: fields.get('lane'),
        operation: { type: 'replace', result_context: context },
      });
      await state.refresh();
    }}
  >
    <p>The context of the lane starts again from here. The log stays as it is.</p>
    <label>
      <span>Lane</span>
      <input name="lane" required value={state.thread.value!.active_context_ref} />
    </label>
    <label>
      <span>First message (empty: an empty lane)</span>
      <textarea name="summary" rows={5} />
    </label>
    <label>
      <span>System prompt (empty: keep the current one)</span>
      <textarea name="prompt" rows={2} />
    </label>
  </DialogButton>
);
