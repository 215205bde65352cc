import type { UsedLimit } from '../../api/types.ts';
import { amount as plain } from '../../parts/format.ts';

const dollars = (value: number): string =>
  new Intl.NumberFormat('en', {
    style: 'currency',
    currency: 'USD',
    // a call may cost millionths
    ...(Math.abs(value) < 1 ? { maximumSignificantDigits: 3 } : {}),
  }).format(value);

/** An amount of what the limit counts. */
export const shown = ({ kind }: Pick<UsedLimit, 'kind'>, value: number): string =>
  kind === 'money' ? dollars(value) : plain(value);

/** Such as `output tokens per minute` or, after an amount in dollars, `per calendar month (Europe/Berlin)`. */
export function counted({ kind, tokens, per, calendar, time_zone: zone }: UsedLimit): string {
  const what = kind === 'money' ? '' : kind === 'concurrency' ? 'runs at work' : kind;
  const which = tokens && tokens !== 'total' ? `${tokens} ${what}` : what;
  if (calendar) return `${which} per calendar ${calendar} (${zone ?? 'UTC'})`.trim();
  if (per === undefined) return which;
  return `${which} per ${typeof per === 'number' ? `${per / 1_000} s` : per}`.trim();
}

export const appliesTo = ({ scope = {} }: UsedLimit): string =>
  Object.entries(scope)
    .map(([dimension, value]) => (value === '*' ? `each ${dimension}` : `${dimension} ${value}`))
    .join(', ') || 'all runs';

/** `customer=*, plan=free` as a scope. @throws Error for anything else */
export function readScope(text: string): Record<string, string> {
  const parts = text.split(',').map((part) => part.trim());
  return Object.fromEntries(
    parts.filter(Boolean).map((part) => {
      const [, dimension, value] = /^([^=]+)=(.+)$/.exec(part) ?? [];
      if (dimension === undefined || value === undefined)
        throw new Error(`Write "${part}" as dimension=value, such as customer=* or model=openai:gpt-5.`);
      return [dimension.trim(), value.trim()];
    }),
  );
}
