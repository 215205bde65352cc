import { assertId, defaultTenant } from '../../../base/checks/ids.ts';
import { assertWhole, centuryMs } from '../../../base/checks/whole-number.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import type { RunQueue } from '../../queue/queue.ts';
import { isKeyValid } from '../../../database/store/access/api-keys.ts';
import {
  invalidEventToken,
  readEventToken,
  signEvent,
  tokenExpired,
  type EventGrant,
} from '../../../base/tokens/event-token.ts';
import { signingSecret } from '../../../base/tokens/token.ts';
import { assertKeepMs, sendEvent, type SendOptions, type SentEvent } from './send-event.ts';

export interface EventTokenOptions extends Pick<SendOptions, 'keepMs'> {
  /** After this, the token is refused; default: 30 days. */
  expiresMs?: number;
  /** The id of the API key on whose behalf the token is made: once the key is revoked or has expired, the token is refused. */
  keyId?: string;
}

export interface Events {
  /**
   * Sends an event: every call that waits for it gets the payload as its result. For a wait that two events reach at
   * once, the first one counts. Sending it again releases only calls that wait by then.
   *
   * @param payload text or JSON, at most 262,144 bytes; default null
   * @throws LanefoldError `invalid_id`, `invalid_input`, `invalid_text`
   */
  send(event: string, payload?: unknown, options?: SendOptions): Promise<SentEvent>;
  /**
   * A token with which anybody may send this event once or more: `POST /signed/events/<token>`, with the payload as its
   * JSON body. For links in mails and for callbacks of other systems.
   *
   * @throws LanefoldError `invalid_id`, `invalid_input`, `missing_token_secret`
   */
  token(event: string, options?: EventTokenOptions): Promise<string>;
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

export function eventsOf({ db, all, queue, secrets, scopeTo }: EventsDeps): Events {
  const grantOf = async (token: string): Promise<EventGrant> => {
    const grant = readEventToken(token, secrets, db.settings.clock.now());
    if (db.tenant !== undefined && db.tenant !== grant.tenant) throw invalidEventToken();
    if (grant.key !== undefined && !(await isKeyValid(all, grant.key)))
      throw tokenExpired('The key that made the token of this event was revoked, or has expired.');
    return grant;
  };
  return {
    send: (event, payload, options = {}) => sendEvent(db, queue, event, payload, options),
    async token(event, { expiresMs = defaultEventTokenMs, keepMs = 0, keyId } = {}) {
      assertId(event, 'The event');
      assertKeepMs(keepMs);
      assertWhole(expiresMs, 'expiresMs', {
        ...{ minimum: 1, maximum: centuryMs },
        hint: 'Omit it for 30 days.',
      });
      if (keyId !== undefined) assertId(keyId, 'The key id');
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
  };
}
