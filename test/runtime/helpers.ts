import type {
  AgentDefinition,
  EnqueueOptions,
  LanefoldOptions,
  Run,
  RunHandle,
  RunningWorker,
  WorkerOptions,
} from 'lanefold';
import { fakeModel, type FakeModel, type FakeScript } from '../support/fake-model.ts';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';

export interface Runtime extends TestLanefold {
  worker: RunningWorker;
  /** A new fake model and its id. */
  model(script: FakeScript): FakeModel & { id: string };
  /** Enqueues a run and waits until it ends. */
  run(options: EnqueueOptions): Promise<RunHandle & { run: Run }>;
}

/** A Lanefold with one worker, for which tests create fake models as needed. */
export async function startRuntime(
  agents: AgentDefinition[],
  { worker: workerOptions, ...options }: Omit<LanefoldOptions, 'agents'> & { worker?: WorkerOptions } = {},
): Promise<Runtime> {
  const made = new Map<string, FakeModel>();
  const lanefold = await startLanefold({
    agents,
    ...options,
    models: { fake: (id: string) => made.get(id)!, ...options.models },
  });
  const worker = await lanefold.startWorker(workerOptions);
  return {
    ...lanefold,
    worker,
    model(script) {
      const model = fakeModel(script);
      made.set(`${made.size}`, model);
      return Object.assign(model, { id: `fake:${made.size - 1}` });
    },
    async run(runOptions) {
      const handle = await lanefold.runs.enqueue(runOptions);
      return { ...handle, run: await lanefold.runs.wait(handle) };
    },
  };
}

/** Default agent of suites that choose the model per run. */
export const unset = 'scripted:echo';
