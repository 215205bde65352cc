import type { LogFacts, Logger } from '../../base/log/logger.ts';
import type { StepDraft } from '../../agent/strategies/machine.ts';
import type { ToolOutcome } from '../../agent/tools/outcome.ts';
import {
  RunTelemetry,
  type ClaimedRun,
  type Interruption,
  type ObservedToolCall,
  type Telemetry,
  parseTraceparent,
} from './telemetry.ts';

/** Logs what happens to runs, with the ids to find them by. */
export const logRuns = (logger: Logger): Telemetry => ({
  runClaimed: (run) => new LoggedRun(logger, run),
  runRefused: ({ threadId, runId, agent }, reason) =>
    logger[reason === 'poisoned' ? 'error' : 'warn'](
      { thread_id: threadId, run_id: runId, agent, reason },
      'run failed instead of being claimed',
    ),
  circuitTurned: ({ state, ...facts }) =>
    logger[state === 'open' ? 'warn' : 'info'](
      facts,
      state === 'open'
        ? 'circuit opened: calls of the model are held back'
        : 'circuit closed: the model is called again',
    ),
});

class LoggedRun extends RunTelemetry {
  readonly #startedAt = performance.now();
  readonly #ids: LogFacts;

  constructor(
    private readonly logger: Logger,
    run: ClaimedRun,
  ) {
    super();
    // if this process does not trace, log the trace of the process that enqueued the run
    const traceId = run.traceId ?? parseTraceparent(run.traceparent)?.traceId;
    this.#ids = {
      thread_id: run.threadId,
      run_id: run.runId,
      ...(traceId === undefined ? {} : { trace_id: traceId }),
      agent: run.agent,
    };
    const facts = { ...this.#ids, model: run.model.slice(0, 100), queued_ms: run.queuedMs };
    logger.info(run.fresh ? facts : { ...facts, step: run.step }, run.fresh ? 'run started' : 'run resumed');
  }

  override async toolCall({ call }: ObservedToolCall, work: () => Promise<ToolOutcome>): Promise<ToolOutcome> {
    const outcome = await work();
    const { status, attempts, durationMs: duration_ms, error } = outcome;
    if (status !== 'ok' && status !== 'waiting') {
      const facts = { ...this.#ids, tool: call.name, status, attempts, duration_ms };
      this.logger.warn(error ? { ...facts, error_type: error.type } : facts, 'tool call failed');
    }
    return outcome;
  }

  override stepCommitted({ events = [] }: StepDraft): void {
    for (const { kind, iteration, data } of events) {
      if (kind === 'llm_retry') this.logger.warn({ ...this.#ids, iteration, ...data }, 'model call failed, retrying');
      if (kind === 'llm_lost') this.logger.warn({ ...this.#ids, iteration, ...data }, 'model call lost, repeating it');
    }
  }

  override ended({ status, iteration, limit, error }: Parameters<RunTelemetry['ended']>[0]): void {
    const facts = { ...this.#ids, status, iterations: iteration, duration_ms: this.#durationMs() };
    if (status === 'failed') this.logger.warn({ ...facts, error }, 'run failed');
    else if (limit !== undefined) this.logger.warn({ ...facts, limit }, 'run ended at a limit, without an answer');
    else this.logger.info(facts, `run ${status}`);
  }

  override interrupted(reason: Interruption): void {
    this.logger.warn({ ...this.#ids, reason, duration_ms: this.#durationMs() }, 'run dropped by this worker');
  }

  #durationMs(): number {
    return Math.round(performance.now() - this.#startedAt);
  }
}
