import { checked } from '../../../base/operations/checked.ts';
import { assertId, defaultTenant } from '../../../base/checks/ids.ts';
import { assertWhole, centuryMs } from '../../../base/checks/values.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import type { RunQueue } from '../../queue/queue.ts';
import { isKeyValid } from '../../../database/store/access/api-keys.ts';
import {
  invalidEventToken,
  readEventToken,
  signEvent,
  tokenExpired,
  signingSecret,
  type EventGrant,
} from '../../../base/tokens/token.ts';
import { sendEvent } from './send-event.ts';
import { events } from './declaration.ts';
import type { Events, SentEvent } from './types.ts';

/** Sends events without a key. */
export interface SignedEvents {
  /**
   * Checks a token without sending its event, as a server does before it reads the payload.
   *
   * @throws LanefoldError `invalid_event_token`, `token_expired`
   */
  checkToken(token: string): Promise<void>;
  /**
   * Sends the event of a token, to the tenant that created it.
   *
   * @throws LanefoldError `invalid_event_token`, `token_expired`, `invalid_input`, `invalid_text`
   */
  sendSigned(token: string, payload?: unknown): Promise<SentEvent>;
}

/** As for checkpoint tokens. */
export const defaultEventTokenMs = 30 * 86_400_000;

interface EventsDeps {
  db: Database;
  /** Sees the keys of all tenants, and those without one. */
  all: Database;
  queue: RunQueue;
  secrets: readonly string[];
  scopeTo(tenant: string): Database;
}

export function eventsOf({ db, all, queue, secrets, scopeTo }: EventsDeps): Events & SignedEvents {
  const grantOf = async (token: string): Promise<EventGrant> => {
    const grant = readEventToken(token, secrets, db.settings.clock.now());
    if (db.tenant !== undefined && db.tenant !== grant.tenant) throw invalidEventToken();
    if (grant.key !== undefined && !(await isKeyValid(all, grant.key)))
      throw tokenExpired('The key that made the token of this event was revoked, or has expired.');
    return grant;
  };
  return checked<Events & SignedEvents>(events, {
    send: (event, payload, options = {}) => sendEvent(db, queue, event, payload, options),
    async token(event, { expiresMs = defaultEventTokenMs, keepMs = 0, keyId } = {}) {
      assertId(event, 'The event');
      assertWhole(expiresMs, 'expiresMs', {
        minimum: 1,
        maximum: centuryMs,
        hint: 'Omit it for 30 days.',
      });
      const expiresAtMs = db.settings.clock.now() + expiresMs;
      const grant = { tenant: db.tenant ?? defaultTenant, event, keepMs, expiresAtMs, key: keyId };
      return signEvent(grant, signingSecret(secrets));
    },
    async checkToken(token) {
      await grantOf(token);
    },
    async sendSigned(token, payload) {
      const { tenant, event, keepMs } = await grantOf(token);
      return sendEvent(scopeTo(tenant), queue, event, payload, { keepMs, by: 'signed' });
    },
  });
}
