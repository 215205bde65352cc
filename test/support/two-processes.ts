import { createLanefold, defineAgent, defineTool, type Lanefold, type LanefoldOptions } from 'lanefold';
import { z } from 'zod';
import { startLanefold, type TestLanefold } from './lanefold.ts';
import { typedModel, type TypedModel } from './typed-model.ts';

export interface Pair {
  /** Where runs are enqueued and read; it has no worker. */
  front: TestLanefold;
  /** Works the runs off, as another process would: it shares the database and the queue, and nothing else. */
  back: Lanefold;
  /** The model of the agent `typist`, answered by the test. */
  model: TypedModel;
  close(): Promise<void>;
}

const look = defineTool({
  name: 'look',
  input: z.object({ at: z.string() }),
  execute: ({ at }) => {
    if (at === 'nothing') throw new Error('There is nothing.');
    return { seen: at };
  },
});

const dig = defineTool({ name: 'dig', input: z.object({}), needsApproval: true, execute: () => 'dug' });

/** A process that reads and one that works, with an agent `typist` that has the tools `look` and, with a person's yes, `dig`. */
export async function startPair(options: LanefoldOptions = {}): Promise<Pair> {
  const model = typedModel();
  const agents = [
    defineAgent({ name: 'typist', model: 'typed:m', tools: [look, dig], maxIterations: 5 }),
    defineAgent({ name: 'echo', model: 'scripted:echo', tools: [look], maxIterations: 5 }),
  ];
  const front = await startLanefold({ agents, models: { typed: () => model }, ...options });
  const back = await createLanefold(front.options);
  await back.startWorker();
  return {
    front,
    back,
    model,
    async close() {
      await back.close();
      await front.close();
    },
  };
}
