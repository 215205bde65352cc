import type { Body } from '../model/state.ts';
import type { Statement } from '../store.ts';
import { lockMs } from './jobs.ts';
import type { Losses } from './losses.ts';

type Report = (check: string, what: string) => void;

/** What is known of a run from the answers of the database. */
interface Known {
  thread: string;
  lease: number;
  worker: string | undefined;
  /** When the lease ends unless it is renewed. */
  until: number;
  ended: boolean;
  steps: Set<number>;
  /** Claims since its last step, without those that were given back for no fault of it. */
  claims: number;
  /** Of those, the ones by workers without other runs that were lost, and nothing else explains it. */
  counted: number;
  /** The last claim was by a worker without other runs. */
  alone: boolean;
  /** Since its last claim was lost: when its worker was last seen. */
  lostAt: number | undefined;
}

/** What the product promises of a run that no claim advances: see `_judge_claims`. */
const promised = { counted: 5, claims: 20 };

/**
 * Compares every answer with the ones before it, in the order in which the database gave them, which no process of a real
 * system can see.
 */
export class Watch {
  readonly #runs = new Map<string, Known>();
  /** The run of each thread that a worker was given, until something may have ended it. */
  readonly #active = new Map<string, string>();
  readonly #requests = new Map<string, string>();
  readonly #decisions = new Map<string, string>();

  constructor(
    private readonly losses: Losses,
    private readonly report: Report,
  ) {}

  see(at: number, { name, values }: Statement, rows: readonly Body[]): void {
    if (name === 'attempts') {
      const calls = JSON.parse(values[0] as string) as Body[];
      for (const [i, { thread_id, function: called, args }] of calls.entries())
        if (rows[i]?.result) this.#call(at, called, thread_id, args, rows[i]!['result']);
    } else if (name.startsWith('renew_leases')) this.#renewals(at, values, rows);
    else this.#query(at, name, values as Body[string][], rows[0]?.['result'] ?? rows[0]);
  }

  #call(at: number, name: string, thread: string, args: Body, result: Body): void {
    const [run, lease, third, fourth] = args as unknown as Body[string][];
    switch (name) {
      case 'enqueue_run':
        return this.#enqueued(thread, args[0], result);
      case 'claim_run':
        return result['claimed']
          ? this.#claimed(at, thread, run, third, result)
          : this.#refused(at, thread, run, result);
      case 'commit_step':
        // a handoff of a run that is to be cancelled writes nothing
        if (result['duplicate'] || result['step'] === third) return;
        this.#accepted('commit_step', run, lease);
        if (this.#of(thread, run).steps.has(third))
          this.report('now:steps-once', `step ${third} of ${run} was written again`);
        this.#of(thread, run).steps.add(third);
        if (!args[4]['resumed']) Object.assign(this.#of(thread, run), { claims: 0, counted: 0 });
        if (result['finished']) return this.#ended(thread, run);
        // a run that was handed over has no holder
        return this.#held(thread, run, result['job'] ? 0 : at + fourth);
      case 'record_tool_call':
        this.#accepted('record_tool_call', run, lease);
        return this.#held(thread, run, at + third);
      case 'finish_run':
        if (!result['finished']) return;
        if (lease !== null) this.#accepted('finish_run', run, lease);
        return this.#ended(thread, run);
    }
  }

  #query(
    _at: number,
    name: string,
    [thread, run, third, fourth, fifth]: Body[string][],
    result: Body | null | undefined,
  ): void {
    switch (name) {
      case 'suspend_run':
        if (result?.['cancel_requested'] || result?.['duplicate']) return;
        this.#accepted(name, run, third);
        Object.assign(this.#of(thread, run), { claims: 0, counted: 0 });
        return this.#held(thread, run, 0);
      case 'delay_run':
        if (!result?.['delayed']) return;
        this.#accepted(name, run, third);
        this.#of(thread, run).claims -= 1;
        return this.#held(thread, run, 0);
      case 'release_run':
        if (!result) return;
        this.#accepted(name, run, third);
        if (fourth === true) this.#of(thread, run).claims -= 1;
        else if (this.#of(thread, run).alone) this.#of(thread, run).counted += 1;
        return this.#held(thread, run, 0);
      case 'branch':
        if (result?.['ended'] ?? result?.['run']?.ended) this.#active.delete(thread);
        return;
      case 'cancel_run':
      case 'finish_cancelled_run':
      case 'fail_expired':
      case 'fail_unknown_agent':
        if (result?.['finished']) this.#ended(thread, run);
        return;
      case 'decide_tool_call': {
        const call = `${run} ${third}.${fourth}`;
        const first = this.#decisions.get(call) ?? result!['decision'];
        this.#decisions.set(call, first);
        if (first !== fifth.decision)
          this.report('now:first-decision', `call ${call} was ${first} and ${fifth.decision}`);
      }
    }
  }

  #renewals(at: number, [leases, ms]: readonly unknown[], rows: readonly Body[]): void {
    for (const { thread_id, run_id, lease } of JSON.parse(leases as string) as Body[]) {
      const row = rows.find((one) => one['thread_id'] === thread_id && one['run_id'] === run_id);
      if (row && !row['renewed']) continue;
      this.#accepted('renew_leases', run_id, lease);
      this.#held(thread_id, run_id, at + (ms as number));
    }
  }

  #enqueued(thread: string, { request_id, busy, options }: Body, { run_id, duplicate }: Body): void {
    // the lane's compaction, which another request may have started
    if (options?.compaction && duplicate) return;
    const request = `${thread} ${request_id}`;
    const first = this.#requests.get(request) ?? run_id;
    this.#requests.set(request, first);
    if (first !== run_id) this.report('now:requests-once', `request ${request_id} became ${first} and ${run_id}`);
    if (busy === 'interrupt') this.#active.delete(thread);
  }

  #claimed(at: number, thread: string, run: string, p: Body, { lease }: Body): void {
    const { worker_id } = p;
    const known = this.#of(thread, run);
    if (lease <= known.lease) this.report('now:fences-rise', `lease ${lease} of ${run} does not exceed ${known.lease}`);
    if (known.until > at && known.worker !== worker_id)
      this.report('now:one-holder', `${run} was given to ${worker_id}, but ${known.worker} holds it`);
    if (known.ended) this.report('now:one-end', `${run} was given to ${worker_id} after its end`);
    const active = this.#active.get(thread);
    if (active !== undefined && active !== run)
      this.report('now:one-active-run', `${run} was given to ${worker_id}, but ${active} has not ended`);
    this.#active.set(thread, run);
    this.#settle(at, known);
    if (++known.claims > promised.claims)
      this.report('now:every-run-ends', `${run} was given to ${worker_id} after ${known.claims - 1} claims in a row`);
    Object.assign(known, { lease, worker: worker_id, alone: p['alone'] === true });
    this.#held(thread, run, at + lockMs);
  }

  /** Counts the last claim, if it was lost. */
  #settle(at: number, known: Known): void {
    this.#noteLoss(at, known);
    const { lostAt, worker, alone } = known;
    if (lostAt !== undefined && alone && !this.losses.isExplained(worker!, lostAt)) known.counted += 1;
    known.lostAt = undefined;
  }

  #noteLoss(at: number, known: Known): void {
    if (known.until > 0 && known.until < at) known.lostAt = known.until - lockMs;
  }

  #refused(at: number, thread: string, run: string, { status, reason }: Body): void {
    const known = this.#of(thread, run);
    if (reason === 'alone') this.#noteLoss(at, known);
    if (reason === 'poisoned') this.#settle(at, known);
    if (reason === 'poisoned' && known.counted < promised.counted && known.claims < promised.claims)
      this.report(
        'now:innocent-runs',
        `${run} was ended after ${known.claims} claims, ${known.counted} of which say something against it`,
      );
    // also the repeat of a claim whose answer was lost: nobody holds the run then
    if (reason === 'alone') this.#held(thread, run, 0);
    if (['completed', 'failed', 'cancelled'].includes(status) && this.#active.get(thread) === run)
      this.#active.delete(thread);
  }

  #accepted(name: string, run: string, lease: number): void {
    const known = this.#runs.get(run);
    if (known && lease < known.lease)
      this.report('now:stale-lease', `${name} under lease ${lease} of ${run} was accepted after lease ${known.lease}`);
    if (known?.ended) this.report('now:one-end', `${name} of ${run} was accepted after its end`);
  }

  #held(thread: string, run: string, until: number): void {
    this.#of(thread, run).until = until;
  }

  #ended(thread: string, run: string): void {
    const known = this.#of(thread, run);
    if (known.ended) this.report('now:one-end', `${run} was ended twice`);
    Object.assign(known, { ended: true, until: 0 });
    if (this.#active.get(thread) === run) this.#active.delete(thread);
  }

  #of(thread: string, run: string): Known {
    let known = this.#runs.get(run);
    if (!known)
      this.#runs.set(
        run,
        (known = {
          thread,
          lease: 0,
          worker: undefined,
          until: 0,
          ended: false,
          steps: new Set(),
          claims: 0,
          counted: 0,
          alone: false,
          lostAt: undefined,
        }),
      );
    return known;
  }
}
