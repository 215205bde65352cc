import type { LanguageModelV4 } from '@ai-sdk/provider';
import { defineAgent } from 'lanefold';
import { setTimeout as delay } from 'node:timers/promises';
import { instantModel } from './workload.ts';

/** An agent without tools, so it ends with the first answer of its model. */
export const slowAgent = defineAgent({ name: 'slow', model: 'held', idleTimeoutMs: 3_600_000 });

export interface SlowModels {
  models: Record<string, LanguageModelV4 | ((id: string) => LanguageModelV4)>;
  /** Calls that have no answer yet. */
  readonly waiting: number;
  readonly calls: number;
  /** Makes `held` answer all calls, including later ones. */
  release(): void;
}

/** `held` answers once released, `latency:<ms>` after the given time, `latency:<ms>-<ms>` after a random one between. */
export function slowModels(): SlowModels {
  let [waiting, calls] = [0, 0];
  let release!: () => void;
  const released = new Promise<void>((resolve) => (release = resolve));
  const quick = instantModel(0);
  const slow = (pause: (signal: AbortSignal | undefined) => Promise<unknown>): LanguageModelV4 => ({
    ...quick,
    doStream: async (request) => {
      calls++;
      waiting++;
      await pause(request.abortSignal).finally(() => waiting--);
      return quick.doStream(request);
    },
  });
  return {
    models: {
      held: slow(() => released),
      latency: (range) => {
        const [from = 0, to = from] = range.split('-').map(Number);
        const ms = () => from + Math.random() * (to - from);
        return slow((signal) => delay(ms(), undefined, signal ? { signal } : {}));
      },
    },
    get waiting() {
      return waiting;
    },
    get calls() {
      return calls;
    },
    release,
  };
}
