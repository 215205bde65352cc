import { post, v1 } from '../../api/client.ts';
import { AgentSelect } from '../../parts/agent-select.tsx';
import { DialogButton } from '../../parts/dialog.tsx';
import { href } from '../../state/route.ts';

/** Starts a new thread with a question. */
export const AskDialog = () => (
  <DialogButton
    title="Ask an agent"
    button="New thread"
    submit="Ask"
    kind="primary"
    onSubmit={async (fields) => {
      const { id } = await post<{ id: string }>('/v1/threads');
      await post(v1('threads', id, 'runs'), { agent: fields.get('agent'), input: fields.get('input') });
      location.hash = href('threads', id);
    }}
  >
    <AgentSelect />
    <label>
      <span>Question</span>
      <textarea name="input" rows={4} required />
    </label>
  </DialogButton>
);
