import { defineTool } from '../../../src/tools/define-tool.ts';
import type { ReadyAgent } from '../../../src/agents/registry.ts';
import type { ToolCall } from '../../../src/context/message.ts';
import { fromLedger, ledgerRow } from '../../../src/runtime/run/stored-outcome.ts';
import type { LedgerRow } from '../../../src/store/run/claim-run.ts';
import { recordToolCall } from '../../../src/store/run/record-tool-call.ts';
import type { CallOutcome, StrategyState } from '../../../src/strategies/machine.ts';
import type { ToolOutcome } from '../../../src/tools/outcome.ts';
import type { Tool } from '../../../src/tools/tool.ts';
import type { Held } from './held.ts';

const input = { type: 'object' } as const;
const tools: Record<string, Tool> = {
  look: defineTool({ name: 'look', input, execute: () => 'seen' }),
  pay: defineTool({ name: 'pay', input, replay: 'never', execute: () => 'paid' }),
  ask: defineTool({ name: 'ask', input, needsApproval: true, execute: () => 'done' }),
};

/**
 * Runs the calls of a round as `runTools` of the runtime does: not those with a stored outcome; the last outcome is left
 * to the commit of the round; calls that need a decision wait.
 */
export async function runTools(
  held: Held,
  { iteration, round }: StrategyState,
  calls: readonly ToolCall[],
  ledger: readonly LedgerRow[] | null,
): Promise<CallOutcome[] | { awaiting: number[] }> {
  const { actor } = held;
  const rows = new Map(ledger?.map((row) => [row.call_index, row]));
  const awaiting = calls.flatMap(({ name }, index) => {
    const row = rows.get(index);
    return tools[name]!.needsApproval && !row?.outcome && row?.approval?.decision === undefined ? [index] : [];
  });
  let open = calls.filter((_, index) => !rows.get(index)?.outcome).length;
  const record = (index: number, row: Parameters<typeof recordToolCall>[4]) =>
    held.persist(() => recordToolCall(actor.db, held, round, index, row));
  const outcomes = await Promise.all(
    calls.map(async (call, index): Promise<ToolOutcome | undefined> => {
      const row = rows.get(index);
      if (row?.outcome) return fromLedger(row);
      if (awaiting.includes(index)) return undefined;
      const outcome = await execute(held, { call, index, iteration, round }, row, record);
      if (--open === 0) return outcome;
      await record(index, ledgerRow(outcome));
      // an attempt that was given up ends, too
      if (actor.world.chances.of(`late ${held.runId} ${round}.${index}`).chance(0.3))
        await record(index, ledgerRow({ ...outcome, content: `${outcome.content} late` }));
      return outcome;
    }),
  );
  return awaiting.length > 0 ? { awaiting } : (outcomes as CallOutcome[]);
}

interface Calling {
  call: ToolCall;
  index: number;
  iteration: number;
  round: number;
}

async function execute(
  held: Held,
  { call, index, iteration, round }: Calling,
  row: LedgerRow | undefined,
  record: (index: number, row: { status: string; attempts: number }) => Promise<void>,
): Promise<ToolOutcome> {
  const { actor, threadId, runId } = held;
  const tool = tools[call.name]!;
  const random = actor.world.chances.of(`tool ${runId} ${round}.${index}`);
  held.assertHeld();
  if (row?.status === 'started') {
    const place = { threadId, runId, requestId: runId, iteration, round, callIndex: index, state: {}, context: {} };
    const signal = new AbortController().signal;
    const known = await actor.world.runtime.afterCrash(tool, call, place, {
      attempts: 1,
      signal,
      agent: {} as ReadyAgent,
    });
    if (known) return known;
  }
  if (tool.replay !== 'safe') await record(index, { status: 'started', attempts: 1 });
  held.assertHeld();
  const asked = { run_id: runId, round, index, name: call.name, replay: String(tool.replay) };
  const recording = actor.recorder.invoke('execute', threadId, asked);
  await actor.sleep(random.int(10, 500));
  if (random.chance(0.03)) await actor.sleep(random.int(1_000, 9_000));
  recording.ok({});
  held.assertHeld();
  return {
    status: 'ok',
    content: `${call.name} ${actor.world.chances.of(`${runId} by ${held.lease}`).int(0, 999_999)}`,
    attempts: 1,
    durationMs: 1,
  };
}
