import type { ThreadState } from '../../state/thread.ts';

/** The lanes of a thread, to choose from. */
export const LaneOptions = ({ state }: { state: ThreadState }) => (
  <>
    {state.lanes.value.map(({ context_ref: name }) => (
      <option key={name} value={name}>
        {name}
      </option>
    ))}
  </>
);
