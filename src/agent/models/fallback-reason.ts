/**
 * Why a call goes to the next model. `overloaded`: the provider does not serve it now: a 5xx, a connection that was lost, a
 * stream that broke or reports an error, an unreadable answer that may be better the next time. `rate_limited`: HTTP 429.
 * `timeout`: the model stayed silent, or a limit of the attempt has passed. `auth`: the provider refuses the key, the account
 * or the model. `context_too_long`: the request exceeds what the model takes. `limit`: a limit of Lanefold has no room for a
 * call to this model now.
 */
export type FallbackReason = (typeof fallbackReasons)[number];

export const fallbackReasons = ['overloaded', 'rate_limited', 'timeout', 'auth', 'context_too_long', 'limit'] as const;
