import type { Counting } from './counting.ts';
import { toolTokens } from '../../policy/heuristic.ts';

/** The parts of a model call besides its messages. */
export interface FixedParts {
  tools: readonly object[];
  /** Instructions of an output contract, which are in no message of the log. */
  instructions?: string | undefined;
}

/** Their tokens by the heuristic; no policy can drop them. */
export const fixedTokens = (
  counting: Pick<Counting, 'heuristicOf'>,
  model: string,
  { tools, instructions }: FixedParts,
): number =>
  toolTokens(tools) +
  (instructions === undefined ? 0 : counting.heuristicOf(model)({ role: 'system', content: instructions }));
