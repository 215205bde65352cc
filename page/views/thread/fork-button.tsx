import { post, v1 } from '../../api/client.ts';
import type { Thread } from '../../api/types.ts';
import { DialogButton } from '../../parts/dialog.tsx';
import { href } from '../../state/route.ts';
import type { ThreadState } from '../../state/thread.ts';
import { LaneOptions } from './lane-options.tsx';

/** Creates a thread with the state of this one after an entry, and opens it. This thread stays unchanged. */
export const ForkButton = ({ state, seq, ofEntry = false }: { state: ThreadState; seq: number; ofEntry?: boolean }) => (
  <DialogButton
    title={`Fork after entry #${seq}`}
    button="Fork"
    submit="Fork"
    {...(ofEntry ? { kind: 'link', label: `Fork after entry #${seq}` } : {})}
    onSubmit={async (fields) => {
      const lane = String(fields.get('lane'));
      const fork = await post<Thread>(v1('threads', state.id, 'fork'), {
        seq,
        ...(lane === '' ? {} : { context_ref: lane }),
        ...(fields.get('repair') ? { repair: true } : {}),
      });
      location.hash = href('threads', fork.id);
    }}
  >
    <p>A new thread begins with the configuration, state and contexts of that moment. This thread stays as it is.</p>
    <label>
      <span>Lane</span>
      <select name="lane">
        <option value="">all</option>
        <LaneOptions state={state} />
      </select>
    </label>
    <label class="check">
      <input type="checkbox" name="repair" /> <span>Add error results to tool calls that had no result yet</span>
    </label>
  </DialogButton>
);
