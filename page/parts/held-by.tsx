import { Fragment } from 'preact';
import { get, v1 } from '../api/client.ts';
import type { LimitHolder } from '../api/types.ts';
import { href } from '../state/route.ts';
import { useLoaded } from '../state/use-loaded.ts';
import { Time } from './basics.tsx';

const shownHolders = 3;

/** The runs that hold a limit the longest; nothing for a key that may not see them. */
export function HeldBy({ limit, tenant }: { limit: string; tenant?: string | null }) {
  const loaded = useLoaded<{ data: LimitHolder[]; next_after: string | null }>(
    (signal) => get(v1('limits', limit, 'holders'), { limit: shownHolders }, signal),
    [limit],
  );
  const holders = loaded.data?.data.filter((one) => tenant === undefined || one.tenant === tenant) ?? [];
  if (holders.length === 0) return null;
  return (
    <>
      Held by{' '}
      {holders.map((one, at) => (
        <Fragment key={one.run_id}>
          {at > 0 && ', '}
          <a href={href('threads', one.thread_id, 'runs', one.run_id)}>a run of {one.agent}</a> since{' '}
          <Time at={one.since} />
        </Fragment>
      ))}
      {loaded.data!.next_after ? ' and others.' : '.'}
    </>
  );
}
