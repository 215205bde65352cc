import { setTimeout as delay } from 'node:timers/promises';

/** Polls until the condition holds. Returns whether it held within the time. */
export async function until(
  condition: () => Promise<boolean>,
  { withinMs, everyMs = 250 }: { withinMs: number; everyMs?: number },
): Promise<boolean> {
  const deadline = performance.now() + withinMs;
  while (!(await condition())) {
    if (performance.now() > deadline) return false;
    await delay(everyMs);
  }
  return true;
}
