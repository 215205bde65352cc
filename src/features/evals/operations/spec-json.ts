import { snakeKeys } from '../../../base/common/case.ts';
import type { JsonObject } from '../../../agent/context/message.ts';
import type { EvalDefinition } from './types.ts';

/** The definition of an eval as JSON. */
export const specJson = ({ variants = [], ...spec }: EvalDefinition): JsonObject =>
  ({
    ...snakeKeys(spec),
    variants: variants.map(({ contextPolicy: policy, ...variant }) => ({
      ...snakeKeys(variant),
      ...(policy === undefined ? {} : { context_policy: typeof policy === 'string' ? policy : snakeKeys(policy) }),
    })),
  }) as JsonObject;
