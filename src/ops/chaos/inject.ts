import type { Slot, Fleet } from './fleet.ts';
import { notRecovered } from './recovery.ts';
import {
  planFaults,
  type Scenario,
  type FaultKind,
  type PlannedFault,
  type RunKey,
  type Observer,
} from './schedule.ts';
import { delay } from '../../base/common/timer.ts';
import type { ChaosPostgres } from './services/postgres.ts';
import type { RedisServer } from './services/redis.ts';
import pg from 'pg';

/** Limit of faults whose runs have not recovered: with more, faults pile up on the same runs and poison them. */
const maxOpen = 2;

/** How long to wait for recovery from one fault; the checks find runs that hang. */
const patienceLeases = 15;

interface InjectOptions {
  seed: number;
  scenarios: number;
  kinds: readonly FaultKind[];
  signal: AbortSignal;
  onScenario: (scenario: Scenario) => void;
}

/** Injects the planned faults in order until enough of them hit a run; a fault that hits no run is repeated. */
export async function inject(rig: Rig, options: InjectOptions): Promise<Scenario[]> {
  const { seed, scenarios: wanted, kinds, signal, onScenario } = options;
  const done: Scenario[] = [];
  let open: Scenario[] = [];
  const lasting = new Set<Promise<void>>();
  let service: Promise<void> = Promise.resolve();
  for (const plan of planFaults(seed, kinds)) {
    if (done.length >= wanted || signal.aborted) break;
    await delay(plan.gapLeases * rig.leaseMs);
    open = await waitForRecovery(rig, open, signal);
    if (exclusive.has(plan.kind)) await service;
    for (let hit = false; !hit && !signal.aborted;) {
      const at = Date.now();
      const injected = await injectFault(rig, plan);
      hit = injected.hit.length > 0;
      if (!hit) await Promise.all([injected.over, delay(20)]);
      else {
        const scenario = { no: done.length + 1, kind: plan.kind, at, hit: injected.hit };
        done.push(scenario);
        open.push(scenario);
        onScenario(scenario);
        const over = injected.over.finally(() => lasting.delete(over));
        lasting.add(over);
        if (exclusive.has(plan.kind)) service = over;
      }
    }
  }
  await Promise.all(lasting);
  return done;
}

/** Waits until fewer than `maxOpen` faults are open and returns those. */
async function waitForRecovery({ observer, leaseMs }: Rig, open: Scenario[], signal: AbortSignal): Promise<Scenario[]> {
  for (let left = open; ; await delay(50)) {
    left = await notRecovered(observer, left);
    if (signal.aborted || left.length < maxOpen) return left;
    left = left.filter(({ at }) => at > Date.now() - patienceLeases * leaseMs);
  }
}

const noHit: InjectedFault = { hit: [], over: Promise.resolve() };

async function injectFault(rig: Rig, plan: PlannedFault): Promise<InjectedFault> {
  const onService = serviceFaults[plan.kind];
  if (onService) return (await rig.observer.activeRuns()).length > 0 ? onService(rig, plan) : noHit;
  const slot = await pickTarget(rig, plan);
  if (!slot) return noHit;
  slot.busy = true;
  const injected = await workerFaults[plan.kind]!(rig, slot, plan);
  return { ...injected, over: injected.over.finally(() => (slot.busy = false)) };
}

/** A worker that holds runs, while another one is left to take them over. */
async function pickTarget({ fleet, observer }: Rig, plan: PlannedFault): Promise<Slot | undefined> {
  const ready = fleet.slots.filter((slot) => slot.workerId && !slot.busy);
  if (ready.length < Math.min(2, fleet.slots.length)) return undefined;
  const first = Math.floor(plan.target * ready.length);
  for (const slot of [...ready.slice(first), ...ready.slice(0, first)]) {
    if (slot.workerId && (await observer.runsHeldBy(slot.workerId)).length > 0) return slot;
  }
  return undefined;
}

/** The system that faults are injected into. */
interface Rig {
  fleet: Fleet;
  postgres: ChaosPostgres;
  /** Undefined when the queue is in PostgreSQL. */
  redis: RedisServer | undefined;
  observer: Observer;
  leaseMs: number;
}

interface InjectedFault {
  /** Active runs of the target, read as the fault takes effect. */
  hit: RunKey[];
  /** Resolves when the fault is over. */
  over: Promise<void>;
}

/** A fault of one worker that holds runs. */
type WorkerFault = (rig: Rig, slot: Slot, plan: PlannedFault) => Promise<InjectedFault>;

/** A fault of a service that all workers share. */
type ServiceFault = (rig: Rig, plan: PlannedFault) => Promise<InjectedFault>;

/** Idle clients take every free connection, including those that the worker has just lost. */
const pool: WorkerFault = async ({ postgres, observer, leaseMs }, slot, { holdLeases }) => {
  const idle: pg.Client[] = [];
  let filling = true;
  const fill = async () => {
    while (filling) {
      const connectionString = postgres.url();
      const client = new pg.Client({ connectionString, connectionTimeoutMillis: 5_000, application_name: 'idle' });
      client.on('error', () => {});
      const connected = await client.connect().then(
        () => true,
        () => false,
      );
      if (connected) idle.push(client);
      else await delay(20);
    }
  };
  const fillers = [fill(), fill(), fill()];
  // wait until the connection limit is (nearly) reached, before the worker must reconnect
  for (let before = -1; before !== idle.length; await delay(100)) before = idle.length;
  for (const proxy of slot.proxies) proxy.reset();
  const hit = await observer.runsHeldBy(slot.workerId!);
  const over = delay(holdLeases * leaseMs).then(async () => {
    filling = false;
    await Promise.all(fillers);
    await Promise.all(idle.map((client) => client.end().catch(() => {})));
  });
  return { hit, over };
};

/** PostgreSQL crashes and recovers. Hits the runs that are active right after recovery. */
const postgres: ServiceFault = async ({ postgres: server, observer }) => {
  await server.crash();
  return { hit: await observer.activeRuns(), over: Promise.resolve() };
};

/**
 * PostgreSQL is shut down for good and its synchronous standby takes over. The fault lasts until the new primary has a
 * standby too.
 */
const failover: ServiceFault = async ({ postgres: server, observer }) => {
  await server.failOver();
  return { hit: await observer.activeRuns(), over: server.addStandby() };
};

/** Redis is killed and restarted empty. */
const redis: ServiceFault = async ({ redis: server, observer }) => {
  const hit = await observer.activeRuns();
  await server!.restart();
  return { hit, over: Promise.resolve() };
};

/** Every job is lost: FLUSHALL, or TRUNCATE of BullMQ's tables. */
const flush: ServiceFault = async ({ redis: server, observer }) => {
  const hit = await observer.activeRuns();
  if (server) await server.flush();
  else await observer.query(truncateTables);
  return { hit, over: Promise.resolve() };
};

// retried after a lock timeout or deadlock, because workers keep using these tables
const truncateTables = `
  do $$ declare v_tables text; begin
    select string_agg(format('%I.%I', schemaname, tablename), ', ') into v_tables from pg_tables
    where schemaname = 'bullmq' and tablename !~ 'migration|version';
    set local lock_timeout = '300ms';
    for i in 1 .. 100 loop
      begin
        execute 'truncate ' || v_tables || ' cascade';
        return;
      exception when lock_not_available or deadlock_detected then
        perform pg_sleep(0.02);
      end;
    end loop;
    raise exception 'could not truncate the queue tables: they stayed locked';
  end $$`;

/** SIGSTOP, then SIGCONT when its leases have usually expired: the worker continues as a zombie where it was frozen. */
const stop: WorkerFault = async ({ observer, leaseMs }, slot, { holdLeases }) => {
  const { process: frozen, workerId } = slot;
  frozen.kill('SIGSTOP');
  const hit = await observer.runsHeldBy(workerId!);
  const over = delay(holdLeases * leaseMs).then(() => void frozen.kill('SIGCONT'));
  return { hit, over };
};

/** SIGKILL. Hits the runs that the dead worker still holds. */
const kill: WorkerFault = async ({ fleet, observer }, slot) => {
  const workerId = slot.workerId!;
  await fleet.kill(slot);
  return { hit: await observer.runsHeldBy(workerId), over: Promise.resolve() };
};

/**
 * The connections of a worker go silent and are reset later. With `responsesOnly`, its statements still take effect.
 */
const cut: WorkerFault = async ({ observer, leaseMs }, slot, { holdLeases, responsesOnly }) => {
  for (const proxy of slot.proxies) proxy.silence(responsesOnly);
  const hit = await observer.runsHeldBy(slot.workerId!);
  const over = delay(holdLeases * leaseMs).then(() => {
    for (const proxy of slot.proxies) proxy.reset();
  });
  return { hit, over };
};

export const workerFaults: Partial<Record<FaultKind, WorkerFault>> = { kill, stop, cut, pool };

export const serviceFaults: Partial<Record<FaultKind, ServiceFault>> = { postgres, failover, redis, flush };

/** Faults that must not overlap: each removes a service that another one needs to take effect. */
export const exclusive = new Set<FaultKind>(['postgres', 'failover', 'redis', 'flush', 'pool']);
