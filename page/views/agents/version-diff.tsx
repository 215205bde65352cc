import { get, v1 } from '../../api/client.ts';
import type { AgentVersionDiff } from '../../api/types.ts';
import { Empty, Failure, Loading } from '../../parts/basics.tsx';
import { useLoaded } from '../../state/use-loaded.ts';

/** What differs between two versions: each field before and after. */
export function VersionDiff({ agent, from, to }: { agent: string; from: string; to: string }) {
  const loaded = useLoaded<AgentVersionDiff>(
    (signal) => get(v1('agents', agent, 'versions', 'diff'), { from, to }, signal),
    [agent, from, to],
  );
  const changes = loaded.data?.data;
  return (
    <>
      <Failure error={loaded.error} />
      {!changes && !loaded.error && <Loading />}
      {changes?.length === 0 && <Empty>They are the same.</Empty>}
      {changes && changes.length > 0 && (
        <dl>
          {changes.map((change) => (
            <div key={change.path}>
              <dt class="mono">{change.path}</dt>
              {'from' in change && (
                <dd>
                  <del>{words(change.from)}</del>
                </dd>
              )}
              {'to' in change && (
                <dd>
                  <ins>{words(change.to)}</ins>
                </dd>
              )}
            </div>
          ))}
        </dl>
      )}
    </>
  );
}

const words = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
