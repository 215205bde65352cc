import { exclusive, serviceFaults, workerFaults } from './faults/index.ts';
import type { InjectedFault, Rig } from './faults/fault.ts';
import type { Slot } from './fleet.ts';
import { notRecovered } from './recovery.ts';
import type { Scenario } from './scenario.ts';
import { planFaults, type FaultKind, type PlannedFault } from './schedule.ts';
import { delay } from '../../base/common/timer.ts';

export interface InjectOptions {
  seed: number;
  scenarios: number;
  kinds: readonly FaultKind[];
  signal: AbortSignal;
  onScenario: (scenario: Scenario) => void;
}

/** Limit of faults whose runs have not recovered: with more, faults pile up on the same runs and poison them. */
const maxOpen = 2;
/** How long to wait for recovery from one fault; the checks find runs that hang. */
const patienceLeases = 15;

/** Injects the planned faults in order until enough of them hit a run; a fault that hits none is repeated. */
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
