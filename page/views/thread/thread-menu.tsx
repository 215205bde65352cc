import { post, v1 } from '../../api/client.ts';
import { Menu, MenuItem } from '../../parts/menu.tsx';
import type { ThreadState } from '../../state/thread.ts';
import { EraseButton } from './erase-button.tsx';
import { ReplaceButton } from './replace-button.tsx';

/** Actions that cancel a run, replace the context or erase the thread. */
export function ThreadMenu({ state }: { state: ThreadState }) {
  const active = state.activeRun.value;
  const cancel = async () => {
    try {
      await post(v1('threads', state.id, 'runs', active!.id, 'cancel'));
      await state.refresh();
    } catch (error) {
      state.error.value = error as Error;
    }
  };
  return (
    <Menu>
      {active && <MenuItem onClick={cancel}>Cancel the run</MenuItem>}
      <ReplaceButton state={state} />
      <EraseButton state={state} />
    </Menu>
  );
}
