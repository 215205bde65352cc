import type { Registry } from 'prom-client';

type Client = typeof import('prom-client');

/** From 5 ms to 82 s, each boundary twice the previous one: for work that may take as long as a model. */
const seconds = Array.from({ length: 15 }, (_, i) => 0.005 * 2 ** i);
/** From 1 ms to 8 s: for a round trip to the database. */
const shortSeconds = Array.from({ length: 14 }, (_, i) => 0.001 * 2 ** i);

/** The metrics of one worker. Every label has few values: names from the agents' definitions, and our own words. */
export function createInstruments({ Counter, Histogram }: Client, register: Registry) {
  const histogram = <Label extends string>(name: string, help: string, labelNames: Label[], buckets = seconds) =>
    new Histogram({ name: `lanefold_worker_${name}`, help, labelNames, buckets, registers: [register] });
  const counter = <Label extends string>(name: string, help: string, labelNames: Label[]) =>
    new Counter({ name: `lanefold_worker_${name}`, help, labelNames, registers: [register] });
  return {
    queueWait: histogram('queue_wait_seconds', 'Time a run spent in the queue before its claim.', ['agent']),
    firstToken: histogram('time_to_first_token_seconds', 'Time to the first part of a streamed answer.', [
      'agent',
      'model',
    ]),
    modelCall: histogram('model_call_seconds', 'Duration of a model call, by outcome: ok or error.', [
      'agent',
      'model',
      'outcome',
    ]),
    toolCall: histogram('tool_call_seconds', 'Duration of a tool call with its attempts, by status.', [
      'agent',
      'tool',
      'status',
    ]),
    commit: histogram('commit_seconds', 'Duration of a database write for a run, including retries.', [], shortSeconds),
    leaseAge: histogram('lease_age_seconds', 'Age of a lease when the worker renewed it.', [], shortSeconds),
    claims: counter('claims_total', 'Claims: first, or resumed after a crash, a release or an approval.', [
      'agent',
      'kind',
    ]),
    runsEnded: counter('runs_ended_total', 'Runs that ended in this worker, or were suspended, by status.', [
      'agent',
      'status',
    ]),
    retries: counter('retries_total', 'Model calls and tool attempts retried after a failure.', ['agent', 'of']),
    lostModelCalls: counter('lost_model_calls_total', 'Model calls lost with the worker that made them.', ['agent']),
    interrupted: counter('runs_interrupted_total', 'Runs this worker dropped: lost, released or failed.', [
      'agent',
      'reason',
    ]),
    refused: counter('runs_refused_total', 'Runs that the worker ended instead of claiming them.', ['agent', 'reason']),
    attempts: counter('webhook_attempts_total', 'Attempts to deliver an event to a webhook, by outcome.', ['outcome']),
    slots: counter('schedule_slots_total', 'Slots of schedules that this worker settled, by status.', ['status']),
    tokens: counter('tokens_total', 'Tokens of model calls, by counter of the usage.', ['agent', 'model', 'counter']),
  };
}

export type Instruments = ReturnType<typeof createInstruments>;
