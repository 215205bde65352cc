import type { Activity } from '../../api/types.ts';
import { href } from '../../state/route.ts';

export type Slot = Activity['slots'][number];

const empty = {
  runs: 0,
  failed: 0,
  unanswered: 0,
  unfinished: 0,
  input_tokens: 0,
  output_tokens: 0,
  cached_tokens: 0,
  cost: 0,
  unpriced_tokens: 0,
  wait_p50_ms: null,
  wait_p95_ms: null,
  marks: [],
};

/** The slots of the period, with those without runs, which the API leaves out. */
export function allSlots({ slots, since, until, slot_minutes: minutes }: Activity): Slot[] {
  const known = new Map(slots.map((slot) => [Date.parse(slot.at), slot]));
  const all: Slot[] = [];
  for (let at = Date.parse(since); at < Date.parse(until); at += minutes * 60_000)
    all.push(known.get(at) ?? { at: new Date(at).toISOString(), ...empty });
  return all;
}

export type Asked = { agent?: string | undefined; version?: string | undefined };
type Of = Record<string, string | undefined>;

/** The runs of a slot, or of the whole period, with those that others have started: they are counted too. */
export const runsOf = ({ agent, version }: Asked, from: string, to: string | undefined, of: Of = {}): string =>
  href('runs', { created_after: from, created_before: to, agent, version, children: 'true', ...of });

/** When a slot ends. */
export const endOf = ({ at }: Slot, { slot_minutes: minutes }: Activity): string =>
  new Date(Date.parse(at) + minutes * 60_000).toISOString();

const day = new Intl.DateTimeFormat('en', { month: 'short', day: 'numeric', timeZone: 'UTC' });
const hour = new Intl.DateTimeFormat('en', {
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
});
const minute = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });

/** When a slot begins: days are those of UTC. */
export const timeOf = (at: string, { slot_minutes: minutes }: Activity): string =>
  (minutes >= 1440 ? day : minutes >= 60 ? hour : minute).format(new Date(at));

export const sumOf = (slots: Slot[], of: (slot: Slot) => number): number =>
  slots.reduce((sum, slot) => sum + of(slot), 0);
