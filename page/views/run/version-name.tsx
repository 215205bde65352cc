import { get, v1 } from '../../api/client.ts';
import type { AgentVersionList } from '../../api/types.ts';
import { useLoaded } from '../../state/use-loaded.ts';

/** A version by its label, then its id; by its id alone for a key that may not list the versions. */
export function VersionName({ agent, id }: { agent: string; id: string }) {
  const loaded = useLoaded<AgentVersionList>(
    (signal) => get(v1('agents', agent, 'versions'), { hours: 1 }, signal),
    [agent],
  );
  return (
    <>
      {loaded.data?.data.find((one) => one.id === id)?.label} <code>{id}</code>
    </>
  );
}
