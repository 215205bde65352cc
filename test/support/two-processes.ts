import { createLanefold, defineAgent, defineTool, type Lanefold, type LanefoldOptions } from 'lanefold';
import { z } from 'zod';
import { startLanefold, type TestLanefold } from './lanefold.ts';
import { typedModel, type TypedModel } from './typed-model.ts';

export interface TwoProcesses {
  /** Enqueues and reads runs; has no worker. */
  front: TestLanefold;
  /** Executes the runs. Shares only the database and the queue with `front`, as another process would. */
  back: Lanefold;
  close(): Promise<void>;
}

export interface Pair extends TwoProcesses {
  /** The model of the agent `typist`; the test writes its answers. */
  model: TypedModel;
}

/** Starts a reader and a worker. */
export async function startTwo(options: LanefoldOptions): Promise<TwoProcesses> {
  const front = await startLanefold(options);
  const back = await createLanefold(front.options);
  await back.startWorker();
  return {
    front,
    back,
    async close() {
      await back.close();
      await front.close();
    },
  };
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

/**
 * Starts a reader and a worker. Their agent `typist` has the tools `look` and `dig`; `dig` needs human approval. The model
 * `silent:m` never answers.
 */
export async function startPair(options: LanefoldOptions = {}): Promise<Pair> {
  const model = typedModel();
  const agents = [
    defineAgent({ name: 'typist', model: 'typed:m', tools: [look, dig], maxIterations: 5 }),
    defineAgent({ name: 'echo', model: 'scripted:echo', tools: [look], maxIterations: 5 }),
  ];
  const two = await startTwo({ agents, models: { typed: () => model, silent: typedModel }, ...options });
  return { ...two, model };
}
