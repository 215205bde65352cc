import type { Cost } from '../api/types.ts';

const whole = new Intl.NumberFormat('en');
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
const clock = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'medium' });
const short = new Intl.DateTimeFormat('en', {
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
});

/** The beginning of a text that is longer. */
export const clip = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

const money = new Intl.NumberFormat('en', { style: 'currency', currency: 'USD', maximumSignificantDigits: 3 });

const share = new Intl.NumberFormat('en', { style: 'percent', maximumSignificantDigits: 2 });

export const percent = (value: number): string => share.format(value);
/** Formats a cost in US dollars. A run may cost less than a cent, and the price of its model may be unknown. */
export function price({ cost, unpriced_tokens: unpriced }: Cost): string {
  if (cost === null) return unpriced > 0 ? 'unpriced' : '–';
  return money.format(cost) + (unpriced > 0 ? ' + unpriced' : '');
}
export const number = (value: number): string => whole.format(value);
export const amount = (value: number): string => (value < 10_000 ? whole.format(value) : compact.format(value));

type Counted = { total_tokens: number; estimated_tokens?: number } | null | undefined;

/** The tokens of a run or a call; marked where the provider did not count all of them. */
export const tokens = (usage: Counted, format = number): string =>
  `${usage?.estimated_tokens ? '≈ ' : ''}${format(usage?.total_tokens ?? 0)}`;

export const fullTime = (at: string): string => clock.format(new Date(at));

/** How long ago, in everyday words; a date for older times. */
export function ago(at: string, now = Date.now()): string {
  const seconds = Math.max(0, (now - Date.parse(at)) / 1000);
  if (seconds < 5) return 'now';
  if (seconds < 60) return `${Math.floor(seconds)} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ago`;
  return short.format(new Date(at));
}

export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1_000)} s`;
  return `${(ms / 3_600_000).toFixed(1)} h`;
}
