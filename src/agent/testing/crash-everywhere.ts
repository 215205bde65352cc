import { isDeepStrictEqual } from 'node:util';
import type { Strategy } from '../strategies/registry.ts';
import { simulate, type SimulatedRun, type Simulation } from './simulate.ts';

/**
 * Crashes a run once at each possible moment: before and after every commit, and after every answer. Each time the run
 * must end as the undisturbed run does, with the same nodes and messages, and must not repeat a call whose answer was
 * stored. Returns the undisturbed run.
 *
 * @throws Error naming the moment
 *
 * @example
 * ```ts
 * import { defineStrategy } from 'lanefold/strategy';
 * import { crashEverywhere } from 'lanefold/testing';
 *
 * const parrot = defineStrategy<null>({
 *   name: 'parrot',
 *   begin: (question) => ({ memory: null, questions: [{ purpose: 'word', prompt: question }] }),
 *   learn: (memory, [answer]) => ({ memory, end: { reason: 'done', answer: answer!.text, result: answer!.text } }),
 *   best: (_, { reason }) => ({ reason, answer: null, result: null }),
 * });
 * crashEverywhere(parrot, { question: 'Who is there?', answer: ({ prompt }) => `You said: ${prompt}` });
 * ```
 */
export function crashEverywhere(strategy: Strategy, simulation: Simulation): SimulatedRun {
  const undisturbed = simulate(strategy, simulation);
  const expected = outcomeOf(undisturbed);
  for (let moment = 0; moment < undisturbed.moments; moment++) {
    const crashed = simulate(strategy, { ...simulation, crashAt: [moment] });
    const found = outcomeOf(crashed);
    if (!isDeepStrictEqual(found, expected)) {
      const what = JSON.stringify({ expected, found }, null, 2);
      throw new Error(`${strategy.name} ends differently after a crash at moment ${moment}: ${what}`);
    }
    // at most one answer had arrived without being stored; other open calls are repeated, but never had an answer
    const repeated = crashed.calls.length - undisturbed.calls.length;
    if (repeated > 1) throw new Error(`${strategy.name} repeats ${repeated} calls after a crash at moment ${moment}.`);
  }
  return undisturbed;
}

/** The part of a run that a crash must not change. Call numbers are left out: they rise when a call is repeated. */
function outcomeOf({ finish, error, store }: SimulatedRun): object {
  const entries = store.entries.map(({ refs: _, ...entry }) => entry);
  const nodes = [...store.nodes.values()].sort((a, b) => a.node - b.node).map(({ callNo: _, ...node }) => node);
  return JSON.parse(JSON.stringify({ finish, error, entries, nodes })) as object;
}
