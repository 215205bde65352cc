import { setTimeout as delay } from 'node:timers/promises';
import { exclusive, serviceFaults, workerFaults } from './faults/index.ts';
import type { Injected, Rig } from './faults/rig.ts';
import type { Slot } from './fleet.ts';
import { planFaults, type FaultKind, type PlannedFault } from './schedule.ts';
import { notRecovered } from './recovery.ts';
import type { RunKey } from './watch.ts';

/** One injected fault that hit at least one active run. */
export interface Scenario {
  no: number;
  kind: FaultKind;
  /** When the blow began, milliseconds since the epoch. */
  at: number;
  hit: RunKey[];
}

export interface InjectOptions {
  seed: number;
  scenarios: number;
  kinds: readonly FaultKind[];
  signal: AbortSignal;
  onScenario: (scenario: Scenario) => void;
}

/** Faults whose runs have not moved on yet, at most: beyond it one would measure how faults pile up, and poison runs. */
const maxOpen = 2;
/** Longer than this no fault is waited for: whether its runs hang is for the checks to say. */
const patienceLeases = 15;

/** Does the planned faults, one after the other, until enough of them hit a run; those that hit none are done again. */
export async function inject(rig: Rig, options: InjectOptions): Promise<Scenario[]> {
  const { seed, scenarios: wanted, kinds, signal, onScenario } = options;
  const done: Scenario[] = [];
  let open: Scenario[] = [];
  const lasting = new Set<Promise<void>>();
  let service: Promise<void> = Promise.resolve();
  for (const plan of planFaults(seed, kinds)) {
    if (done.length >= wanted || signal.aborted) break;
    await delay(plan.gapLeases * rig.leaseMs);
    open = await calmDown(rig, open, signal);
    if (exclusive.has(plan.kind)) await service;
    for (let hit = false; !hit && !signal.aborted;) {
      const at = Date.now();
      const injected = await strike(rig, plan);
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

/** Waits until few faults are open; returns those. */
async function calmDown({ watch, leaseMs }: Rig, open: Scenario[], signal: AbortSignal): Promise<Scenario[]> {
  for (let left = open; ; await delay(50)) {
    left = await notRecovered(watch, left);
    if (signal.aborted || left.length < maxOpen) return left;
    left = left.filter(({ at }) => at > Date.now() - patienceLeases * leaseMs);
  }
}

const nothing: Injected = { hit: [], over: Promise.resolve() };

async function strike(rig: Rig, plan: PlannedFault): Promise<Injected> {
  const onService = serviceFaults[plan.kind];
  if (onService) return (await rig.watch.active()).length > 0 ? onService(rig, plan) : nothing;
  const slot = await victim(rig, plan);
  if (!slot) return nothing;
  slot.busy = true;
  const injected = await workerFaults[plan.kind]!(rig, slot, plan);
  return { ...injected, over: injected.over.finally(() => (slot.busy = false)) };
}

/** A worker that holds runs, with another one left to take them. */
async function victim({ fleet, watch }: Rig, plan: PlannedFault): Promise<Slot | undefined> {
  const ready = fleet.slots.filter((slot) => slot.workerId && !slot.busy);
  if (ready.length < Math.min(2, fleet.slots.length)) return undefined;
  const first = Math.floor(plan.victim * ready.length);
  for (const slot of [...ready.slice(first), ...ready.slice(0, first)]) {
    if (slot.workerId && (await watch.held(slot.workerId)).length > 0) return slot;
  }
  return undefined;
}
