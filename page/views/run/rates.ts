import type { RunSnapshot } from '../../api/types.ts';
import { amount, price } from '../../parts/format.ts';

type ModelCost = RunSnapshot['cost_by_model'][number];

/** What a run spent on a model and at which price, in words. */
export function rates({
  model,
  input_tokens,
  output_tokens,
  cost,
  price: from,
  per_million: rates,
}: ModelCost): string {
  const tokens = `${model}: ${amount(input_tokens)} + ${amount(output_tokens)} tokens`;
  if (cost === null) return `${tokens}, price unknown`;
  const listed = Object.entries(rates ?? {}).map(([kind, rate]) => `${kind.replace('_', ' ')} $${rate}`);
  const dollars = price({ cost, unpriced_tokens: 0 });
  if (from === 'own') return `${tokens}, ${dollars} at your own price`;
  return `${tokens}, ${dollars} at the list price${listed.length > 0 ? ` (per million: ${listed.join(', ')})` : ''}`;
}
