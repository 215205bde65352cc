import { Tabs } from '../../parts/tabs.tsx';
import { setQuery } from '../../state/route.ts';
import type { ThreadState } from '../../state/thread.ts';

/** Tabs for the lanes of a thread with more than one. The first tab, labelled `all`, selects none of them. */
export function LaneTabs({ state, lane, all }: { state: ThreadState; lane: string; all: string }) {
  const names = state.lanes.value.map(({ context_ref: name }) => name);
  if (names.length < 2 && lane === '') return null;
  const known = lane === '' || names.includes(lane) ? names : [...names, lane];
  return (
    <Tabs
      label="Lanes"
      group="lane"
      tabs={[['', all], ...known.map((name): [string, string] => [name, name])]}
      current={lane}
      onSelect={(next) => setQuery({ lane: next || undefined })}
    />
  );
}
