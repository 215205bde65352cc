import type { JsonObject } from '../../../src/agent/context/message.ts';
import { isLanefoldError } from '../../../src/base/errors.ts';
import { isTransient } from '../../../src/database/postgres/errors.ts';
import { dispatch, dispatchFirst } from '../../../src/runs/queue/relay.ts';
import { applyOperation } from '../../../src/database/store/context/apply-operation.ts';
import { forkThread } from '../../../src/database/store/fork/fork-thread.ts';
import { enqueueInput } from '../../../src/database/store/input/enqueue-input.ts';
import { appendEntries, type AppendRequest } from '../../../src/database/store/log/append-entries.ts';
import { cancelRun } from '../../../src/database/store/run/cancel-run.ts';
import { enqueueRun } from '../../../src/database/store/run/enqueue-run.ts';
import { decideToolCall } from '../../../src/database/store/wait/decide-tool-call.ts';
import type { Random } from '../../../src/ops/chaos/schedule.ts';
import { place } from '../model/limits.ts';
import { Actor } from '../world/network.ts';
import { toNewJob, type World } from '../world/world.ts';
import { harmful } from './agents.ts';
import { kinds, toCompaction, toOperation, toRequest, toSummary, type Kind, type Sent } from './requests.ts';

/** A client asks for one thing after the other: in three threads at a time, and then in new ones. */
export class Client {
  readonly #actor: Actor;
  readonly #sent: Sent = { runs: [], operations: [], inputs: [] };
  readonly #revs = new Map<string, number>();

  constructor(
    private readonly world: World,
    private readonly name: string,
  ) {
    this.#actor = new Actor(world, name);
    void this.#live();
  }

  async #live(): Promise<void> {
    const { chances } = this.world;
    for (let i = 0; ; i++) {
      const name = `${this.name}:${i}`;
      const random = chances.of(name);
      await this.#actor.sleep(random.int(20, 700));
      if (chances.calm) return;
      const kind = random.pick(kinds);
      const thread = `t${Math.floor(i / 20) + random.int(0, 2)}`;
      if (!chances.happens(name, `${kind} ${thread}`)) continue;
      await this.#ask(kind, name.replace(':', '-'), thread, random).catch((error: unknown) => this.#refused(error));
    }
  }

  async #ask(kind: Kind, name: string, threadId: string, random: Random): Promise<unknown> {
    const { db } = this.#actor;
    const lane = random.chance(0.2) ? 'side' : undefined;
    switch (kind) {
      case 'append':
      case 'expect':
        return this.#append(threadId, name, kind === 'expect' ? (this.#revs.get(threadId) ?? 0) : undefined, random);
      case 'say': {
        const payload = { role: 'user', content: `said ${name}` };
        const draft = { kind: 'ai_message', context_ref: lane ?? 'default', payload, refs: { value: name } };
        return this.#twice(random, () =>
          appendEntries(db, threadId, { drafts: [draft], idempotencyKey: name, hash: 'h' }),
        );
      }
      case 'enqueue':
        return this.#enqueue(threadId, toRequest(name, lane, random));
      case 'harm': {
        // some seeds have a few runs that kill their workers: these take long
        const harms = this.world.chances.of('harm').chance(0.3) && Number(name.split('-')[1]) < 40;
        return this.#enqueue(threadId, toRequest(name, lane, random, harms ? harmful : 'go'));
      }
      case 'again': {
        if (this.#sent.runs.length === 0) return;
        const { threadId: earlier, body } = random.pick(this.#sent.runs.slice(-6));
        return this.#enqueue(earlier, { ...body, run_id: `run-${name}` });
      }
      case 'steer': {
        const input = { id: `input-${name}`, kind: 'steer', content: `and ${name}`, by: 'client' } as const;
        this.#sent.inputs.push({ threadId, input });
        return enqueueInput(db, threadId, input);
      }
      case 'steer again': {
        if (this.#sent.inputs.length === 0) return;
        const { threadId: earlier, input } = random.pick(this.#sent.inputs.slice(-6));
        return enqueueInput(db, earlier, input);
      }
      case 'cancel':
        return this.#cancel(random);
      case 'decide':
        return this.#decide(random);
      case 'operate':
        return this.#operate(threadId, `op-${name}`, lane, toOperation(`op-${name}`, random), random);
      case 'operate again': {
        if (this.#sent.operations.length === 0) return;
        const { threadId: earlier, ...operation } = random.pick(this.#sent.operations.slice(-6));
        return applyOperation(db, earlier, { ...operation, hash: operation.opId });
      }
      case 'compact':
        return this.#enqueue(threadId, toCompaction(name, lane, random));
      case 'summarise': {
        const base = random.int(0, (this.#revs.get(threadId) ?? 4) + 2);
        return this.#operate(threadId, `op-${name}`, lane, toSummary(`op-${name}`, base), random);
      }
      case 'fork':
        return this.#fork(threadId, `fork-${name}`, random);
      case 'read':
        if (!this.world.threads.has(threadId)) return;
        return this.world.read(this.#actor.recorder, threadId, async (take) => {
          const snapshot = await this.world.clock.ask(random.int(1, 12), take);
          await this.#actor.sleep(random.int(1, 12));
          return snapshot;
        });
      case 'usage':
        return this.#readUsage();
    }
  }

  async #append(threadId: string, name: string, expectedRev: number | undefined, random: Random): Promise<void> {
    const values = Array.from({ length: random.int(1, 3) }, (_, n) => `${name}.${n}`);
    const request: AppendRequest = {
      drafts: values.map((value) => ({ kind: 'note', payload: { text: value }, refs: { value } })),
      expectedRev,
      ...(random.chance(0.7) ? { idempotencyKey: name, hash: 'h' } : {}),
    };
    const append = () => appendEntries(this.#actor.db, threadId, request);
    const { rev } = await (request.idempotencyKey ? this.#twice(random, append) : append());
    this.#revs.set(threadId, rev);
  }

  async #enqueue(threadId: string, body: JsonObject): Promise<void> {
    const { db, world } = this.#actor;
    this.#sent.runs.push({ threadId, body });
    const result = await enqueueRun(db, threadId, body);
    // the answer may be another request's compaction, and once that has ended, the same request becomes a new one
    if (result.duplicate && body['strategy'] === 'compaction')
      this.#sent.runs = this.#sent.runs.filter((other) => other.body['request_id'] !== body['request_id']);
    if (result.status === 'queued')
      await world.jobs.asRunQueue().addAll([{ ...toNewJob(threadId, body, { ...result }), queue_shard: 0 }], 'back');
  }

  async #cancel(random: Random): Promise<void> {
    if (this.#sent.runs.length === 0) return;
    const { db, world } = this.#actor;
    const { threadId, body } = random.pick(this.#sent.runs.slice(-4));
    const { promoted } = await this.#twice(random, () =>
      cancelRun(db, threadId, body['run_id'] as string, 'changed my mind'),
    );
    if (promoted) await dispatch(db, world.jobs.asRunQueue(), promoted);
  }

  async #decide(random: Random): Promise<void> {
    const { db, world } = this.#actor;
    if (world.approvals.length === 0) return;
    const { threadId, runId, ...call } = random.pick(world.approvals.slice(-5));
    const decision = random.chance(0.6) ? 'approved' : 'denied';
    const { job } = await this.#twice(random, () =>
      decideToolCall(db, threadId, runId, call, { decision, queuePrefix: 'lf' }),
    );
    if (job) await dispatchFirst(db, world.jobs.asRunQueue(), [job]);
  }

  #operate(
    threadId: string,
    opId: string,
    contextRef: string | undefined,
    operation: JsonObject,
    random: Random,
  ): Promise<unknown> {
    this.#sent.operations.push({ threadId, opId, operation, contextRef });
    return this.#twice(random, () =>
      applyOperation(this.#actor.db, threadId, { opId, contextRef, operation, hash: opId }),
    );
  }

  async #fork(threadId: string, id: string, random: Random): Promise<void> {
    const seq = random.int(-1, (this.#revs.get(threadId) ?? 4) + 1);
    const point = { atSeq: random.chance(0.3) ? undefined : seq, repair: random.chance(0.5) || undefined };
    const fork = () => forkThread(this.#actor.db, threadId, point, { id, requestHash: 'h' });
    await this.#twice(random, fork);
    this.world.threads.add(id);
  }

  async #readUsage(): Promise<void> {
    const { recorder, world } = this.#actor;
    const recording = recorder.invoke('usage', 'limits', {});
    const text = `select coalesce(sum(reserved), 0)::float8 as reserved from lanefold.limit_usage where name = 'tokens' and key = ''`;
    const statement = { name: 'limit_usage', text, values: [] };
    const [row] = await world.clock.ask(5, () => world.execute(this.#actor, statement));
    recording.ok({ reserved: { [place]: row!['reserved'] } });
  }

  /** Some clients repeat a request whose answer was lost. */
  async #twice<T>(random: Random, send: () => Promise<T>): Promise<T> {
    const repeats = random.chance(0.7);
    return send().catch((error: unknown) => {
      if (repeats && isTransient(error)) return send();
      throw error;
    });
  }

  /** A refusal, or a lost answer: the history knows. */
  #refused(error: unknown): void {
    if (!isLanefoldError(error) && !isTransient(error))
      this.world.report('unexpected-errors', `${this.name}: ${String(error)}`);
  }
}
