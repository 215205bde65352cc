import type { Dimensions } from '../../agent/limits/dimensions.ts';
import type { WaitingJob } from '../../database/store/limit/use-limits.ts';

/** What limits need to know of a run. */
export interface LimitedRun {
  threadId: string;
  runId: string;
  tenant: string;
  agent: string;
  /** Its own model; single calls may use another one. */
  model: string;
  /** The API key that started it. */
  caller: string | null;
  limitKeys: Readonly<Record<string, string>>;
  /** When it was accepted: its place in line. */
  createdAt: string;
  priority: number;
  job: WaitingJob;
}

/** The job of a run while it waits, of what is known of the run. */
export const waitingJob = (
  { name, prefix }: { name: string; prefix: string },
  { agent, enqueue_no }: { agent: string; enqueue_no: number },
  { version, strategy }: { version?: string | undefined; strategy?: string | undefined },
): WaitingJob => ({
  ...{ queue: name, prefix, enqueue_no, agent },
  ...(version === undefined ? {} : { version }),
  ...(strategy === undefined ? {} : { strategy }),
});

/** The values that limits may apply to, for calls of `model`. */
export function dimensionsOf(
  { tenant, caller, agent, threadId, limitKeys }: Omit<LimitedRun, 'runId' | 'createdAt' | 'priority' | 'job'>,
  model: string,
): Dimensions {
  const provider = model.includes(':') ? model.slice(0, model.indexOf(':')) : undefined;
  return { ...limitKeys, tenant, key: caller?.replace(/^key:/, ''), agent, thread: threadId, model, provider };
}
