import { checked } from '../../base/operations/checked.ts';
import type { Feature } from '../feature.ts';
import { webhooks } from './declaration.ts';
import type { Webhooks } from './types.ts';
import { webhooksOf } from './operations/webhooks.ts';
import { eraseWebhooks } from './store/webhooks.ts';

/** @param anywhere webhooks may have `http:` URLs and private addresses */
export const webhooksFeature = (anywhere: boolean): Feature<{ webhooks: Webhooks }> => ({
  operations: ({ scopeTo }, db) => ({ webhooks: checked(webhooks, webhooksOf(db, scopeTo, anywhere)) }),
  keeper: { eraseTenant: eraseWebhooks },
  async loadPart() {
    const { webhooksPart } = await import('./worker/part.ts');
    return ({ deliveryNotices: notices }, { webhookTimeoutMs: timeoutMs = 10_000 }) =>
      webhooksPart({ anywhere, timeoutMs, notices });
  },
});
