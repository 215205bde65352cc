import type { Logger } from '../../log/logger.ts';
import { seldom } from '../../log/seldom.ts';

/** The default handler for errors not tied to a run: a line in the log, the same one at most every ten seconds. */
export function reportErrors(log: Logger): (error: unknown) => void {
  const isDue = seldom();
  return (err) => {
    const message = err instanceof Error ? err.message : String(err);
    if (isDue(message)) log.error({ component: 'worker', ...codeOf(err) }, message);
  };
}

/** Connections break with errors of many kinds; their stacks say nothing, their codes do. */
const codeOf = (error: unknown): { code?: string } => {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' ? { code } : {};
};
