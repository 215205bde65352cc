import { post, v1 } from '../../api/client.ts';
import { DialogButton } from '../../parts/dialog.tsx';
import type { ThreadState } from '../../state/thread.ts';

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
