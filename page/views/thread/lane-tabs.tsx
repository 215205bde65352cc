import { Tabs } from '../../parts/tabs.tsx';
import { setQuery } from '../../state/route.ts';
import type { ThreadState } from '../../state/thread.ts';

/** The lanes of a thread that has more than one, after `all`: what stands for not choosing one. */
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
