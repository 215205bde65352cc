import { headersOf } from '../provider/models.ts';
import { waitForEnd, type Client } from './client.ts';
import { persist } from './persist.ts';

export const oddAgent = 'chaos-odd';
/** Later calls get what was odd before as part of their context. */
const runsPerThread = 4;

/** Runs whose provider gives odd answers, one after the other. They may fail, but they end. */
export async function haveOddRuns(client: Client, slot: number, stopping: AbortSignal): Promise<void> {
  const { lanefold, acknowledged, signal } = client;
  for (let n = 0; !stopping.aborted; n++) {
    const threadId = `chaos-odd-${slot}-${Math.floor(n / runsPerThread)}`;
    const request = {
      agent: oddAgent,
      input: `Do odd ${n}.`,
      threadId,
      createThread: true,
      headers: headersOf(threadId),
    };
    const { id } = await persist(() => lanefold.runs.enqueue({ ...request, requestId: `${threadId}.${n}` }), signal);
    acknowledged.runs.push({ threadId, id });
    await waitForEnd(client, [{ threadId, id }]);
  }
}
