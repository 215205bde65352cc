import { perDollar, type Limit } from './limit.ts';

/** What one model call needs, or has used. */
export interface CallUse {
  inputTokens: number;
  outputTokens: number;
  /** In US dollars; undefined if the price of the model is unknown. */
  cost: number | undefined;
}

/** How much of a limit a call uses; undefined: its price is unknown. */
export function amountOf({ kind, tokens }: Pick<Limit, 'kind' | 'tokens'>, use: CallUse): number | undefined {
  switch (kind) {
    case 'tokens':
      if (tokens === 'input') return use.inputTokens;
      return tokens === 'output' ? use.outputTokens : use.inputTokens + use.outputTokens;
    case 'money':
      return use.cost === undefined ? undefined : Math.round(use.cost * perDollar);
    default:
      return 1;
  }
}

/** Whether the provider's answer tells how much was used, so that what was reserved before is settled with it. */
export const isSettled = ({ kind }: Pick<Limit, 'kind'>): boolean => kind === 'tokens' || kind === 'money';

/** Whether a run takes it once, when it starts, and not with each model call. */
export const isOfRuns = ({ kind }: Pick<Limit, 'kind'>): boolean => kind === 'concurrency' || kind === 'runs';

/** Whether it stands for what a provider lets an account use. */
export const isOfProvider = ({ kind, scope }: Pick<Limit, 'kind' | 'scope'>): boolean =>
  (kind === 'requests' || kind === 'tokens') && ('model' in scope || 'provider' in scope);
