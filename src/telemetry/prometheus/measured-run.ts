import type { ModelTurn } from '../../context/message.ts';
import type { StepDraft } from '../../strategies/machine.ts';
import type { ToolOutcome } from '../../tools/outcome.ts';
import { RunTelemetry } from '../telemetry.ts';
import type { ClaimedRun, Interruption, ObservedModelCall, ObservedToolCall } from '../telemetry.ts';
import type { Instruments } from './instruments.ts';
import type { KnownNames } from './known-names.ts';

/** Counts and times one claim of a run. */
export class MeasuredRun extends RunTelemetry {
  readonly #agent: string;

  constructor(
    private readonly instruments: Instruments,
    private readonly known: KnownNames,
    run: ClaimedRun,
  ) {
    super();
    const agent = known.agent(run.agent);
    this.#agent = agent;
    instruments.claims.inc({ agent, kind: run.fresh ? 'first' : 'resumed' });
    instruments.queueWait.observe({ agent }, run.queuedMs / 1000);
  }

  override async modelCall<T extends { turn: ModelTurn }>(
    { name }: ObservedModelCall,
    work: (onFirstPart: () => void) => Promise<T>,
  ): Promise<T> {
    const { firstToken, modelCall, tokens } = this.instruments;
    const labels = { agent: this.#agent, model: this.known.model(name) };
    const startedAt = performance.now();
    let outcome = 'error';
    try {
      const result = await work(() => firstToken.observe(labels, since(startedAt)));
      outcome = 'ok';
      for (const [counter, count] of Object.entries(result.turn.usage)) {
        if (counter !== 'total_tokens') tokens.inc({ ...labels, counter }, count);
      }
      return result;
    } finally {
      modelCall.observe({ ...labels, outcome }, since(startedAt));
    }
  }

  override async toolCall({ call }: ObservedToolCall, work: () => Promise<ToolOutcome>): Promise<ToolOutcome> {
    const { toolCall, retries } = this.instruments;
    const startedAt = performance.now();
    const outcome = await work();
    const labels = { agent: this.#agent, tool: this.known.tool(call.name), status: outcome.status };
    toolCall.observe(labels, since(startedAt));
    if (outcome.attempts > 1) retries.inc({ agent: this.#agent, of: 'tool' }, outcome.attempts - 1);
    return outcome;
  }

  override wrote(durationMs: number): void {
    this.instruments.commit.observe(durationMs / 1000);
  }

  override stepCommitted({ events = [] }: StepDraft): void {
    for (const { kind } of events) {
      if (kind === 'llm_retry') this.instruments.retries.inc({ agent: this.#agent, of: 'model' });
      if (kind === 'llm_lost') this.instruments.lostModelCalls.inc({ agent: this.#agent });
    }
  }

  override leaseRenewed(ageMs: number): void {
    this.instruments.leaseAge.observe(ageMs / 1000);
  }

  override ended({ status }: { status: string }): void {
    this.instruments.runsEnded.inc({ agent: this.#agent, status });
  }

  override interrupted(reason: Interruption): void {
    this.instruments.interrupted.inc({ agent: this.#agent, reason });
  }
}

const since = (startedAt: number): number => (performance.now() - startedAt) / 1000;
