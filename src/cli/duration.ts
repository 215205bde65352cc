import { InvalidArgumentError } from 'commander';

const unitMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Parses a duration such as `30d`, `12h`, `15m` or `90s`; in ms. */
export function duration(text: string): number {
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  if (count && unit && Number(count) > 0) return Number(count) * unitMs[unit as keyof typeof unitMs];
  throw new InvalidArgumentError('Write it as a number and a unit: 90s, 15m, 12h or 30d.');
}
