import { operator } from '../../base/access/principal.ts';
import { processClock } from '../../base/common/timer.ts';
import { omitUndefined } from '../../base/common/json.ts';
import { defaultEventTokenMs } from '../../runs/operations/waits/events.ts';
import type { Handler } from '../declared/routes.ts';

interface Asked {
  payload?: unknown;
  keepMs?: number;
  expiresMs?: number;
}

export const eventHandlers: Record<'send' | 'token', Handler> = {
  async send({ lanefold, principal: { actor }, params, options }) {
    const { payload, keepMs } = options as Asked;
    const by = actor === operator.actor ? undefined : actor;
    return lanefold.events.send(params['event']!, payload, omitUndefined({ keepMs, by }));
  },

  async token({ lanefold, principal, params, options }) {
    const { expiresMs: asked, keepMs } = options as Asked;
    // a token lives no longer than the key that made it
    const { actor, expiresAtMs = Infinity } = principal;
    const left = Math.max(1, Math.floor(expiresAtMs - processClock.now()));
    const expiresMs = Math.min(asked ?? defaultEventTokenMs, left);
    const token = await lanefold.events.token(
      params['event']!,
      omitUndefined({ expiresMs, keepMs, keyId: keyOf(actor) }),
    );
    return { token, path: `/signed/events/${token}` };
  },
};

/** The id of the key of an actor such as `key:<id>`. */
const keyOf = (actor: string): string | undefined => /^(?:key|token):(key_.+)$/.exec(actor)?.[1];
