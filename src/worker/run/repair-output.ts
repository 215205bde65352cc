import type { ReadyAgent } from '../../agent/definition/registry.ts';
import type { Message } from '../../agent/context/message.ts';
import { toPrompt } from '../../agent/models/prompt.ts';
import { redactSecrets } from '../../base/redaction/sensitive-keys.ts';
import { estimateUsage } from '../../agent/models/counting.ts';
import { generate } from '../../agent/models/generate.ts';
import type { ReadyContract } from '../../agent/contracts/contract.ts';
import { runAttempt } from '../../agent/tools/execute.ts';
import type { Command, StrategyEvent } from '../../agent/strategies/machine.ts';
import type { Claim } from '../../database/store/run/claim-run.ts';
import type { GuardedCall } from '../part.ts';
import { beginAttempt, failAttempt } from './attempt.ts';
import type { HeldRun } from './held-run.ts';
import type { Reservation } from '../../runs/limiter/run-limits.ts';
import { abandonCall, failureOf, mayPass, reserveCall, settleCall } from './reserve-call.ts';
import { askedOf } from './prepare-call.ts';
import { questionOf, type RunContext } from './context.ts';
import { transformRequest, transformerContext } from './transform-request.ts';
import type { RunDependencies } from './dependencies.ts';
import { unwrapObject } from '../../agent/contracts/json-schema.ts';
import { delay } from '../../base/common/timer.ts';

type Repair = Extract<Command, { type: 'repair_output' }>;

/**
 * Repairs an answer that violates its contract: with the contract's own function, or with one model call that sees the
 * question, the whole answer and the validation error, and has no tools. Nothing is appended to the log.
 */
export async function repairOutput(
  deps: RunDependencies,
  run: HeldRun,
  agent: ReadyAgent,
  claim: Claim,
  context: RunContext,
  command: Repair & { iteration: number },
  signal: AbortSignal,
): Promise<StrategyEvent> {
  const contract = agent.output!;
  if (command.afterMs) await delay(command.afterMs, { signal }).catch(() => signal.throwIfAborted());
  const { attempt, error, earlier = '' } = command;
  const asked = askedOf(claim, command);
  const question = questionOf(claim).text;
  const answer = earlier + context.lastAnswer;
  run.assertHeld();
  if (contract.repair) {
    const repaired = await repairByCode(contract, { question, answer, error, attempt, signal }, agent.toolTimeoutMs);
    signal.throwIfAborted();
    return { type: 'output_repaired', checked: repaired };
  }
  let reserved: Reservation | undefined;
  let calling: GuardedCall | undefined;
  try {
    const request = await prepareRepair(
      deps,
      run,
      agent,
      claim,
      asked.model,
      command.iteration,
      repairMessages(contract, { question, answer, error }),
    );
    const model = await deps.models.resolve(request.model);
    calling = await beginAttempt(deps, request.model);
    reserved = await reserveCall(deps, run, { ...request, tools: [] });
    run.assertHeld();
    const { name, schema, description } = contract;
    const call = {
      prompt: toPrompt(request.messages, await deps.models.dialect(request.model)),
      tools: [],
      settings: {
        ...request.settings,
        response_format: { type: 'json' as const, schema, name, ...(description === undefined ? {} : { description }) },
      },
      stream: false,
    };
    const callId = `${run.runId}.repair.${attempt}`;
    const observed = { ...call, callId, repair: true, iteration: command.iteration, name: request.model, model };
    const { turn, checked } = await run.telemetry.modelCall(observed, async () => {
      const answered = await generate(model, {
        ...call,
        signal,
        idleTimeoutMs: agent.idleTimeoutMs,
        attemptMs: agent.chain.attemptMs,
      });
      void calling?.ended('ok');
      const turn = { ...answered, usage: estimateUsage(deps.counting, { ...request, tools: [] }, answered) };
      return { turn, checked: await contract.check(turn.text) };
    });
    reserved = settleCall(reserved, turn.usage);
    const other = request.model === claim.model ? undefined : request.model;
    return { type: 'output_repaired', checked, usage: turn.usage, model: other };
  } catch (fault) {
    abandonCall(reserved, fault);
    const deferred = await failAttempt(calling, fault, signal.aborted);
    signal.throwIfAborted();
    const failed = failureOf(fault, command);
    if (deferred && !mayPass(command, failed)) throw deferred;
    return failed;
  }
}

/** A repair function that throws or exceeds the tool timeout has used up its attempt. */
async function repairByCode(
  contract: ReadyContract,
  draft: Parameters<NonNullable<ReadyContract['repair']>>[0],
  timeoutMs: number,
) {
  try {
    const start = (own: AbortSignal) => contract.repair!({ ...draft, signal: own });
    const value = await runAttempt(start, timeoutMs, draft.signal, 'The repair');
    return await contract.checkValue(unwrapObject(value, contract.schema));
  } catch (error) {
    return { ok: false as const, message: redactSecrets(error instanceof Error ? error.message : String(error)) };
  }
}

function prepareRepair(
  deps: RunDependencies,
  run: HeldRun,
  agent: ReadyAgent,
  claim: Claim,
  model: string,
  iteration: number,
  messages: Message[],
) {
  const draft = { model, messages, settings: agent.settings, tools: [] };
  const { requestTransformer: transformer } = agent;
  if (!transformer) return draft;
  return transformRequest(
    transformer,
    deps.models,
    draft,
    transformerContext(run, agent, claim, iteration),
    agent.toolTimeoutMs,
  );
}

const repairMessages = (
  { instructions }: ReadyContract,
  { question, answer, error }: { question: string; answer: string; error: string },
): Message[] => [
  {
    role: 'system',
    content: `Rewrite the answer in the required format. Keep its content and add no facts.\n\n${instructions}`,
  },
  {
    role: 'user',
    content: `The question:\n${question}\n\nThe answer:\n${answer}\n\nWhat is wrong with the answer:\n${error}`,
  },
];
