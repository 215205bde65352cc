import type { Feature } from '../feature.ts';
import type { Webhooks } from './operations/types.ts';
import { webhooksOf } from './operations/webhooks.ts';
import { eraseWebhooks } from './store/webhooks.ts';

/** @param anywhere webhooks may have `http:` URLs and private addresses */
export const webhooksFeature = (anywhere: boolean): Feature<{ webhooks: Webhooks }> => ({
  operations: ({ scopeTo }, db) => ({ webhooks: webhooksOf(db, scopeTo, anywhere) }),
  keeper: { eraseTenant: eraseWebhooks },
  async loadPart() {
    const { webhooksPart } = await import('./worker/part.ts');
    return ({ deliveryNotices: notices }, { webhookTimeoutMs: timeoutMs = 10_000 }) =>
      webhooksPart({ anywhere, timeoutMs, notices });
  },
});
