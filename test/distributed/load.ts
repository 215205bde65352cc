import type { Lanefold } from 'lanefold';
import { nothingAcknowledged, type Acknowledged } from '../../src/ops/chaos/workload/journal.ts';
import { converse } from '../../src/ops/chaos/workload/conversation.ts';
import { decide } from '../../src/ops/chaos/workload/conversations.ts';
import { randomOf } from '../../src/ops/chaos/schedule.ts';

export interface Load {
  acknowledged: Acknowledged;
  /** Resolves when more runs have ended than now, by `count`. */
  progress(count: number): Promise<void>;
  /** Starts no more conversations, and resolves when those under way have ended. */
  stop(): Promise<void>;
}

/** Limits the runs of a thread, so that there are many threads and contexts stay short. */
const conversationsPerThread = 3;

/**
 * Conversations of the campaign, `atOnce` at a time: runs with tools, steered, cancelled, deferred and waiting. A load on
 * a database that had another one is given what that one acknowledged: checks look at the whole database.
 */
export function startLoad(
  lanefold: Lanefold,
  name: string,
  atOnce: number,
  acknowledged = nothingAcknowledged(),
): Load {
  const settled = new AbortController();
  const client = { lanefold, acknowledged, signal: settled.signal };
  let stopping = false;
  let ended = 0;
  let watch = () => {};
  const talk = async (slot: number) => {
    const random = randomOf(1, `${name} ${slot}`);
    for (let n = 0; !stopping; n++) {
      const threadId = `${name}-${slot}-${Math.floor(n / conversationsPerThread)}`;
      await converse(client, threadId, `${slot}.${n}`, random);
      ended += 1;
      watch();
    }
  };
  const conversations = Promise.all(Array.from({ length: atOnce }, (_, slot) => talk(slot)));
  conversations.catch(() => {});
  const people = decide(client, randomOf(1, `${name} people`));
  people.catch(() => {});
  return {
    acknowledged,
    progress(count) {
      const enough = ended + count;
      const reached = new Promise<void>((resolve) => {
        watch = () => ended >= enough && resolve();
      });
      return Promise.race([reached, conversations.then(() => {})]);
    },
    async stop() {
      stopping = true;
      await conversations;
      settled.abort();
      await people;
    },
  };
}
