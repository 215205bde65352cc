import type { JsonObject, Usage } from '../../context/message.ts';
import { iterationLimit } from '../../agents/iteration-limit.ts';
import type { ReadyAgent } from '../../agents/registry.ts';
import type { Strategy } from '../../strategies/registry.ts';
import type { EventDraft, StrategyState, StepDraft } from '../../strategies/machine.ts';
import type { RunJobResult } from '../../queue/job.ts';
import type { Claim } from '../../store/run/claim-run.ts';
import type { RunEnd } from '../run/run-end.ts';
import { JobProgress, type ProgressJob, type ShownProgress } from './progress.ts';

/**
 * Reports a claimed run's progress to its job, without any text of the conversation, which the queue would keep after
 * the thread is erased. `end` and `close` wait up to half a second; the other methods never wait.
 */
export function jobLog(job: ProgressJob, claim: Claim, agent: ReadyAgent | undefined, machine?: Strategy) {
  const limit = claim.options?.max_iterations ?? (agent ? iterationLimit(agent, machine) : 0);
  const progressAt = (iteration: number, phase: string, usage: Usage | null | undefined): ShownProgress => ({
    iteration,
    max_iterations: limit,
    tokens: usage?.total_tokens ?? 0,
    phase,
  });
  const start = claim.fresh ? `${claim.agent} starts` : `${claim.agent} resumes after step ${claim.step}`;
  const first = `${start}, model ${short(claim.model)}, lane ${claim.context_ref}`;
  const progress = new JobProgress(job, progressAt(claim.iteration, claim.state?.phase ?? 'llm', claim.usage), first);
  return {
    step: (state: StrategyState, step: StepDraft, usage: Usage | undefined): void =>
      progress.note(progressAt(state.iteration, state.phase, usage), stepLines(step, limit)),
    /** Returns what was never written, for the job's result to carry. */
    end: async (end: RunEnd): Promise<Pick<RunJobResult, 'shown'>> => {
      const last = progressAt(end.iteration, end.status, end.usage);
      const spent = `after ${end.iteration} of ${limit} iterations, ${last.tokens} tokens`;
      const why = end.error?.type ?? (end.awaiting && `waits for approval of ${end.awaiting.join(', ')}`);
      progress.note(last, [`${end.status} ${spent}${why ? `: ${why}` : ''}`]);
      const unwritten = progress.unwritten();
      // the job of a failed run has no result
      await progress.close({ always: end.status === 'failed' });
      return unwritten ? { shown: unwritten } : {};
    },
    /** Flushes the log lines of a run that this worker cannot finish. */
    close: (): Promise<void> => progress.close(),
    drop: (): void => progress.drop(),
  };
}

/** The log lines of a step; most kinds of events have none. */
function stepLines(step: StepDraft, limit: number): string[] {
  const toolNames = step.calls?.map((call) => nameOf(call.name)).join(', ');
  return [...(step.events ?? []), ...(step.thenEvents ?? [])].flatMap((event) => toLine(event, toolNames, limit) ?? []);
}

function toLine(
  { kind, iteration, data = {} }: EventDraft,
  toolNames: string | undefined,
  limit: number,
): string | undefined {
  const at = `[${iteration}/${limit}]`;
  switch (kind) {
    case 'llm_completed':
      return `${at} model ${data['turn_type'] === 'tool_calls' ? `asks for ${toolNames ?? 'tools'}` : 'answers'}${tokens(data)}`;
    case 'tool_completed':
      return `${at} ${nameOf(text(data, 'tool_name'))}: ${text(data, 'status')} in ${text(data, 'duration_ms')} ms${attempts(data)}`;
    case 'llm_retry':
      return `${at} model call failed (${text((data['error'] ?? {}) as JsonObject, 'type')}), retrying`;
    case 'llm_lost':
      return `${at} model call lost with its worker, repeating it`;
    default:
      return undefined;
  }
}

/** An inline script contains the model's answers, so it is not shown. */
const short = (model: string): string =>
  model.startsWith('scripted:[') ? 'scripted:[…]' : model.length <= 60 ? model : `${model.slice(0, 59)}…`;

/** A model can invent any tool name, even one with text of the conversation, so only a well-formed name is shown. */
const nameOf = (tool: string): string => (/^[\w-]{1,64}$/.test(tool) ? tool : 'an unknown tool');

const text = (data: JsonObject, key: string): string => {
  const value = data[key];
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '?';
};

function tokens(data: JsonObject): string {
  const usage = data['usage'] as Usage | undefined;
  return usage ? ` (${usage.input_tokens} + ${usage.output_tokens} tokens)` : '';
}

const attempts = (data: JsonObject): string =>
  Number(data['attempts']) > 1 ? `, ${Number(data['attempts'])} attempts` : '';
