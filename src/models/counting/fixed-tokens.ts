import type { Counting } from './counting.ts';
import { toolTokens } from '../../policy/heuristic.ts';

/** What is sent with every call besides its messages. */
export interface FixedParts {
  tools: readonly object[];
  /** Of an output contract, which no message of the log has. */
  instructions?: string | undefined;
}

/** Tokens of them by the heuristic, which no policy can save. */
export const fixedTokens = (
  counting: Pick<Counting, 'heuristicOf'>,
  model: string,
  { tools, instructions }: FixedParts,
): number =>
  toolTokens(tools) +
  (instructions === undefined ? 0 : counting.heuristicOf(model)({ role: 'system', content: instructions }));
