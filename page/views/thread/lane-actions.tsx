import { post, v1 } from '../../api/client.ts';
import { Empty, Tag } from '../../parts/basics.tsx';
import { DialogButton } from '../../parts/dialog.tsx';
import type { ThreadState } from '../../state/thread.ts';
import { CompactButton } from './compact-button.tsx';
import { ForkButton } from './fork-button.tsx';

/** The lanes of the thread, with the active one marked, and operations on them. */
export function LaneActions({ state }: { state: ThreadState }) {
  const active = state.thread.value!.active_context_ref;
  const switchTo = async (fields: FormData) => {
    const change = { context_ref: fields.get('lane'), operation: { type: 'switch' } };
    await post(v1('threads', state.id, 'context-operations'), change);
    await state.refresh();
  };
  const lanes = state.lanes.value;
  return (
    <>
      {lanes.length === 0 && <Empty>No lanes yet.</Empty>}
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
